@cancellation
Feature: Cancellation and partial effects
  A run that is cut short keeps what it had completed, and does not claim to know what it did not see.

  @cancellation.in-call-after-write
  Scenario: Cancelled in a call
    Given the model runs a script meant to "Write, then wait"
      """
      tools.call("write", {intent: "Write one", path: "one.txt", content: "1\n"});
      tools.call("bash", {intent: "Wait", command: "touch waiting; sleep 30"});
      return {};
      """
    When the prompt "Write and wait." is run and cancelled once "waiting" exists
    Then the facts of the script are
      | label                             | value               |
      | Script outcome                    | cancelled           |
      | Code Mode intent                  | Write, then wait    |
      | Total calls                       | 2                   |
      | Successful calls                  | 1                   |
      | Running calls                     | 0                   |
      | Elapsed milliseconds              | <milliseconds>      |
      | Warnings                          | 0                   |
      | Changed paths                     | 1                   |
      | Execution persistence             | recorded            |
      | Completed with warnings           | null                |
      | Changed path                      | <workspace>/one.txt |
      | Completed actions remain applied  | true                |
      | Rollback                          | false               |
      | External effects may be untracked | true                |

  @cancellation.between-calls
  Scenario: Cancelled between calls
    Given the model runs a script meant to "Write, then think"
      """
      tools.call("write", {intent: "Write one", path: "one.txt", content: "1\n"});
      for (;;) { }
      """
    When the prompt "Write and think." is run and cancelled once "one.txt" exists
    Then the facts of the script are
      | label                             | value               |
      | Script outcome                    | cancelled           |
      | Total calls                       | 1                   |
      | Successful calls                  | 1                   |
      | Failed calls                      | 0                   |
      | Unknown calls                     | 0                   |
      | Running calls                     | 0                   |
      | Recoverable failures              | 0                   |
      | Warnings                          | 0                   |
      | Changed paths                     | 1                   |
      | Execution persistence             | recorded            |
      | Completed with warnings           | null                |
      | Changed path                      | <workspace>/one.txt |
      | Completed actions remain applied  | true                |
      | Rollback                          | false               |
      | External effects may be untracked | true                |

  @cancellation.killed-in-call
  Scenario: Killed in a call
    Given the model runs a script meant to "Write, then wait"
      """
      tools.call("write", {intent: "Write one", path: "one.txt", content: "1\n"});
      tools.call("read", {intent: "Read missing", paths: ["missing.txt"]});
      tools.call("bash", {intent: "Wait", command: "touch waiting; sleep 30"});
      return {};
      """
    When the prompt "Write and wait." is run and the product is killed once "waiting" exists
    Then the facts of the script are
      | label                             | value               |
      | Script outcome                    | interrupted         |
      | Code Mode intent                  | Write, then wait    |
      | Total calls                       | 3                   |
      | Successful calls                  | 1                   |
      | Failed calls                      | 1                   |
      | Unknown calls                     | 1                   |
      | Running calls                     | null                |
      | Elapsed milliseconds              | null                |
      | Recoverable failures              | 1                   |
      | Warnings                          | 0                   |
      | Changed paths                     | 1                   |
      | Response token estimate           | null                |
      | Execution persistence             | recorded            |
      | Completed with warnings           | null                |
      | Changed path                      | <workspace>/one.txt |
      | Completed actions remain applied  | true                |
      | Rollback                          | false               |
      | External effects may be untracked | true                |

  @cancellation.killed-in-batch
  Scenario: Killed in a batch
    Given the model starts a batch of tasks meant to "Exercise an interrupted batch" at concurrency 2
      | intent                    |
      | TASK-A is quick           |
      | TASK-B writes, then waits |
      | TASK-C never starts       |
    And for task "TASK-A is quick" the model answers "A is done." after 800 ms
    And for task "TASK-B writes, then waits" the model calls
      | tool  | arguments                                                |
      | write | {"intent": "Write b", "path": "b.txt", "content": "b\n"} |
    And for task "TASK-B writes, then waits" the model calls
      | tool | arguments                                                |
      | bash | {"intent": "Wait", "command": "touch waiting; sleep 30"} |
    When the prompt "Run the batch." is run and the product is killed once "waiting" exists
    Then the facts of the batch are
      | label                     | value |
      | Tasks total               | null  |
      | Tasks done                | null  |
      | Tasks failed              | null  |
      | Tasks running             | null  |
      | Tasks unknown             | null  |
      | Tasks cancelled           | null  |
      | Child references complete | null  |
      | Child references omitted  | null  |
    And the facts of task 2 are
      | label                   | value        |
      | Task persistence        | not_recorded |
      | Task failed calls       | null         |
      | Task unknown calls      | null         |
      | Task calls with effects | null         |
      | Task activity count     | null         |
      | Task activity omitted   | null         |
      | Task changed paths      | null         |

  @cancellation.turn-after-interruption
  Scenario: Turn after a kill
    Given the model runs a script meant to "Write, then wait"
      """
      tools.call("write", {intent: "Write one", path: "one.txt", content: "1\n"});
      tools.call("bash", {intent: "Wait", command: "touch waiting; sleep 30"});
      return {};
      """
    When the prompt "Write and wait." is run and the product is killed once "waiting" exists
    Given the model runs a script meant to "Look again"
      """
      tools.call("read", {intent: "Read one", paths: ["one.txt"]});
      return {};
      """
    And the model answers "It is still there."
    When the prompt "Look again." is run
    Then the facts of the script of turn 1 are
      | label                             | value       |
      | Script outcome                    | interrupted |
      | Total calls                       | 2           |
      | Successful calls                  | 1           |
      | Failed calls                      | 0           |
      | Unknown calls                     | 1           |
      | Running calls                     | null        |
      | Elapsed milliseconds              | null        |
      | Changed paths                     | 1           |
      | Execution persistence             | recorded    |
      | Completed with warnings           | null        |
      | Completed actions remain applied  | true        |
      | Rollback                          | false       |
      | External effects may be untracked | true        |
    And the facts of the script of turn 2 are
      | label                             | value    |
      | Script outcome                    | success  |
      | Total calls                       | 1        |
      | Successful calls                  | 1        |
      | Failed calls                      | 0        |
      | Unknown calls                     | 0        |
      | Running calls                     | 0        |
      | Warnings                          | 0        |
      | Changed paths                     | 0        |
      | Completed with warnings           | false    |
      | Execution persistence             | recorded |
      | Completed actions remain applied  | true     |
      | Rollback                          | false    |
      | External effects may be untracked | true     |

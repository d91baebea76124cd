@legacy @local-agent-only
Feature: Legacy sessions
  Sessions that an older release saved without telemetry. What was recorded is shown; what was not stays null.

  @legacy.code-mode
  Scenario: Legacy script
    Given the session is recorded by release 0.96.6
    And the setting "capabilities.tools.code_mode.enabled" is true
    And the workspace file "a.txt" holds
      """
      alpha
      """
    And the model runs a script
      """
      tools.call("read", {paths: ["a.txt"]});
      tools.call("read", {paths: ["missing.txt"]});
      tools.call("write", {path: "out.txt", content: "hello\n"});
      return {};
      """
    And the model answers "Done."
    When the prompt "Run the script." is run
    Then the facts of the script are
      | label                             | value               |
      | Script outcome                    | success             |
      | Code Mode intent                  | null                |
      | Total calls                       | 3                   |
      | Successful calls                  | 2                   |
      | Failed calls                      | 1                   |
      | Unknown calls                     | 0                   |
      | Recoverable failures              | 1                   |
      | Elapsed milliseconds              | <milliseconds>      |
      | Changed paths                     | 1                   |
      | Execution persistence             | recorded            |
      | Completed with warnings           | true                |
      | Changed path                      | <workspace>/out.txt |
      | Completed actions remain applied  | true                |
      | Rollback                          | false               |
      | External effects may be untracked | true                |

  @legacy.finished-batch
  Scenario: Legacy batch
    Given the session is recorded by release 0.96.6
    And the model starts a batch of tasks at concurrency 2
      | intent          | agent  |
      | TASK-A answers  |        |
      | TASK-B fails    |        |
      | TASK-C writes   | writer |
    And for task "TASK-A answers" the model answers "A is done." after 50 ms
    And for task "TASK-B fails" the provider refuses with status 400
    And for task "TASK-C writes" the model calls
      | tool  | arguments                              |
      | write | {"path": "c.txt", "content": "c\n"}     |
    And for task "TASK-C writes" the model answers "C is done." after 50 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
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
    And the facts of task 1 are
      | label                   | value          |
      | Task intent             | TASK-A answers |
      | Task agent              | null           |
      | Task persistence        | not_recorded   |
      | Task failed calls       | null           |
      | Task unknown calls      | null           |
      | Task calls with effects | null           |
      | Task activity count     | null           |
      | Task activity omitted   | null           |
    And the facts of task 3 are
      | label                   | value         |
      | Task intent             | TASK-C writes |
      | Task agent              | writer        |
      | Task persistence        | not_recorded  |
      | Task failed calls       | null          |
      | Task unknown calls      | null          |
      | Task calls with effects | null          |

  @legacy.interrupted-batch
  Scenario: Legacy batch interrupted
    Given the session is recorded by release 0.96.6
    And the model starts a batch of tasks at concurrency 2
      | intent         |
      | TASK-A answers |
      | TASK-B waits   |
    And for task "TASK-A answers" the model answers "A is done." after 50 ms
    And for task "TASK-B waits" the model calls
      | tool | arguments                                |
      | bash | {"intent": "Wait", "command": "touch waiting; sleep 30"}  |
    When the prompt "Run the batch." is run and the product is killed once "waiting" exists
    Then the facts of the batch are
      | label           | value |
      | Tasks total     | null  |
      | Tasks done      | null  |
      | Tasks failed    | null  |
      | Tasks running   | null  |
      | Tasks unknown   | null  |
      | Tasks cancelled | null  |
    And the facts of task 2 are
      | label               | value        |
      | Task persistence    | not_recorded |
      | Task failed calls   | null         |
      | Task activity count | null         |

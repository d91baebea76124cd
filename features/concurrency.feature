@concurrency
Feature: Concurrency
  Tasks that run at the same time keep their own facts.

  @concurrency.four-tasks @out-of-order.finish-order @out-of-order.final-details @out-of-order.revisions
  Scenario: Four tasks out of order
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the model starts a batch of tasks meant to "Exercise four tasks" at concurrency 4
      | intent            | agent  | context                            |
      | TASK-A is last    |        | Nobody but the task may read this. |
      | TASK-B is refused |        |                                    |
      | TASK-C writes     | writer | The file is called heron.          |
      | TASK-D is first   |        |                                    |
    And for task "TASK-A is last" the model calls
      | tool | arguments                                            |
      | read | {"intent": "Read a", "paths": ["a.txt"]}             |
      | read | {"intent": "Read missing", "paths": ["missing.txt"]} |
    And for task "TASK-A is last" the model answers "A is done." after 900 ms
    And for task "TASK-B is refused" the provider refuses with status 400
    And for task "TASK-C writes" the model calls after 300 ms
      | tool  | arguments                                                |
      | write | {"intent": "Write c", "path": "c.txt", "content": "c\n"} |
    And for task "TASK-C writes" the model answers "C is done." after 200 ms
    And for task "TASK-D is first" the model answers "D is done." after 50 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
    Then the facts of the batch are
      | label                     | value |
      | Tasks total               | 4     |
      | Tasks done                | 3     |
      | Tasks failed              | 1     |
      | Tasks running             | 0     |
      | Tasks unknown             | 0     |
      | Tasks cancelled           | 0     |
      | Child references complete | true  |
      | Child references omitted  | 0     |
    And the facts of task 1 are
      | label                               | value          |
      | Task intent                         | TASK-A is last |
      | Task outcome                        | success        |
      | Task failed calls                   | 1              |
      | Task unknown calls                  | 0              |
      | Task changed paths                  | 0              |
      | Task activity count                 | 2              |
      | Usage effective input tokens        | 200            |
      | Usage output tokens                 | 40             |
      | Usage cache read tokens             | 20             |
      | Usage latest effective input tokens | 100            |
    And the facts of task 2 are
      | label               | value             |
      | Task intent         | TASK-B is refused |
      | Task outcome        | failure           |
      | Task failed calls   | 0                 |
      | Task activity count | 0                 |
    And the facts of task 3 are
      | label                   | value          |
      | Task intent             | TASK-C writes  |
      | Task agent              | writer         |
      | Task outcome            | success        |
      | Task changed paths      | 1              |
      | Task calls with effects | 1              |
      | Task activity count     | 1              |
      | Task activity           | write: success |
    And the facts of task 4 are
      | label                        | value                     |
      | Task intent                  | TASK-D is first           |
      | Task outcome                 | success                   |
      | Task activity count          | 0                         |
      | Usage provenance             | normalized_provider_usage |
      | Usage effective input tokens | 100                       |
      | Usage output tokens          | 20                        |
      | Usage cache read tokens      | 10                        |
      | Usage cache known            | true                      |
      | Usage latest final           | true                      |

  @concurrency.ten-tasks
  Scenario: Ten tasks
    Given the model starts a batch of tasks meant to "Exercise ten tasks" at concurrency 4
      | intent  |
      | TASK-A |
      | TASK-B |
      | TASK-C |
      | TASK-D |
      | TASK-E |
      | TASK-F |
      | TASK-G |
      | TASK-H |
      | TASK-I |
      | TASK-J |
    And for task "TASK-A" the model answers "A is done." after 50 ms
    And for task "TASK-B" the model answers "B is done." after 87 ms
    And for task "TASK-C" the model answers "C is done." after 124 ms
    And for task "TASK-D" the model answers "D is done." after 71 ms
    And for task "TASK-E" the model answers "E is done." after 108 ms
    And for task "TASK-F" the model answers "F is done." after 55 ms
    And for task "TASK-G" the model answers "G is done." after 92 ms
    And for task "TASK-H" the model answers "H is done." after 129 ms
    And for task "TASK-I" the model answers "I is done." after 76 ms
    And for task "TASK-J" the model answers "J is done." after 113 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
    Then the facts of the batch are
      | label                     | value |
      | Tasks total               | 10    |
      | Tasks done                | 10    |
      | Tasks failed              | 0     |
      | Tasks running             | 0     |
      | Tasks unknown             | 0     |
      | Tasks cancelled           | 0     |
      | Child references complete | true  |
      | Child references omitted  | 0     |
    And the facts of task 1 are
      | label                        | value                     |
      | Task intent                  | TASK-A                    |
      | Task outcome                 | success                   |
      | Task persistence             | recorded                  |
      | Usage provenance             | normalized_provider_usage |
      | Usage effective input tokens | 100                       |
      | Usage output tokens          | 20                        |
      | Usage cache read tokens      | 10                        |
      | Usage cache known            | true                      |
      | Usage latest final           | true                      |
    And the facts of task 10 are
      | label                        | value                     |
      | Task intent                  | TASK-J                    |
      | Task outcome                 | success                   |
      | Task persistence             | recorded                  |
      | Usage provenance             | normalized_provider_usage |
      | Usage effective input tokens | 100                       |
      | Usage output tokens          | 20                        |
      | Usage cache read tokens      | 10                        |
      | Usage cache known            | true                      |
      | Usage latest final           | true                      |

  @concurrency.task-with-code-mode
  Scenario: Script in a task
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the model starts a batch of tasks meant to "Exercise a script in a task" at concurrency 2
      | intent              |
      | TASK-A runs a script |
      | TASK-B only answers |
    And for task "TASK-A runs a script" the model runs a script meant to "Read and write in a task" after 1000 ms
      """
      tools.call("read", {intent: "Read a", paths: ["a.txt"]});
      tools.call("read", {intent: "Read missing", paths: ["missing.txt"]});
      tools.call("write", {intent: "Write d", path: "d.txt", content: "d\n"});
      return {};
      """
    And for task "TASK-A runs a script" the model answers "A is done." after 50 ms
    And for task "TASK-B only answers" the model answers "B is done." after 50 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
    Then the facts of the batch are
      | label           | value |
      | Tasks total     | 2     |
      | Tasks done      | 2     |
      | Tasks failed    | 0     |
      | Tasks running   | 0     |
      | Tasks unknown   | 0     |
      | Tasks cancelled | 0     |
    And the facts of task 1 are
      | label                        | value   |
      | Task outcome                 | success |
      | Task failed calls            | 0       |
      | Task unknown calls           | 0       |
      | Task calls with effects      | 1       |
      | Task activity count          | 1       |
      | Task changed paths           | 1       |
      | Usage effective input tokens | 200     |
    And the facts of the script of task 1 are
      | label                             | value                    |
      | Script outcome                    | success                  |
      | Code Mode intent                  | Read and write in a task |
      | Total calls                       | 3                        |
      | Successful calls                  | 2                        |
      | Failed calls                      | 1                        |
      | Unknown calls                     | 0                        |
      | Running calls                     | 0                        |
      | Warnings                          | 0                        |
      | Changed paths                     | 1                        |
      | Completed with warnings           | true                     |
      | Completed actions remain applied  | true                     |
      | Rollback                          | false                    |
      | External effects may be untracked | true                     |

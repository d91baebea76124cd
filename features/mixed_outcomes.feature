@mixed-outcomes
Feature: Mixed outcomes
  A script and a batch whose parts end differently. Each part keeps its own outcome, and the whole is not judged by
  its parts.

  @mixed-outcomes.script
  Scenario: Mixed script
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the model runs a script meant to "Exercise mixed outcomes"
      """
      const a = tools.call("read", {intent: "Read a", paths: ["a.txt"]});
      const b = tools.call("read", {intent: "Read missing", paths: ["missing.txt"]});
      const c = tools.call("write", {intent: "Write out", path: "out.txt", content: "hello\n"});
      return {a: a.success, b: b.success, c: c.success};
      """
    And the model answers "Done."
    When the prompt "Run the acceptance script." is run
    Then the facts of the script are
      | label                            | value               |
      | Script outcome                   | success             |
      | Code Mode intent                 | Exercise mixed outcomes |
      | Total calls                      | 3                   |
      | Successful calls                 | 2                   |
      | Failed calls                     | 1                   |
      | Unknown calls                    | 0                   |
      | Running calls                    | 0                   |
      | Elapsed milliseconds             | <milliseconds>      |
      | Recoverable failures             | 1                   |
      | Warnings                         | 0                   |
      | Changed paths                    | 1                   |
      | Change count qualifier           | exact               |
      | Response token estimate          | <count>             |
      | Execution persistence            | recorded            |
      | Completed with warnings          | true                |
      | Warnings omitted                 | 0                   |
      | Changed paths omitted            | 0                   |
      | Child references complete        | true                |
      | Child references omitted         | 0                   |
      | Completed actions remain applied | true                |
      | Rollback                         | false               |
      | External effects may be untracked | true               |
      | Changed path                     | <workspace>/out.txt |

  @mixed-outcomes.batch @cancellation.batch
  Scenario: Mixed batch
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And each reply reports 100 prompt, 20 completion and 10 cached tokens
    And the model starts a batch of tasks meant to "Exercise a mixed batch" at concurrency 2
      | intent                    | agent  |
      | TASK-A reads two files    |        |
      | TASK-B meets a refusal    |        |
      | TASK-C writes, then waits | writer |
      | TASK-D waits              |        |
      | TASK-E never starts       |        |
    And for task "TASK-A reads two files" the model calls
      | tool | arguments                                            |
      | read | {"intent": "Read a", "paths": ["a.txt"]}             |
      | read | {"intent": "Read missing", "paths": ["missing.txt"]} |
    And for task "TASK-A reads two files" the model answers "A is done." after 100 ms
    And for task "TASK-B meets a refusal" the provider refuses with status 400
    And for task "TASK-C writes, then waits" the model calls
      | tool  | arguments                                                  |
      | write | {"intent": "Write c", "path": "c.txt", "content": "c\n"}   |
    And for task "TASK-C writes, then waits" the model calls after 200 ms
      | tool  | arguments                                                  |
      | bash  | {"intent": "Wait", "command": "touch waiting; sleep 30"}   |
    And for task "TASK-D waits" the model calls
      | tool  | arguments                                                  |
      | bash  | {"intent": "Wait", "command": "sleep 30"}                  |
    When the prompt "Run the batch." is run and cancelled once "waiting" exists
    Then the facts of the batch are
      | label           | value |
      | Tasks total     | 5     |
      | Tasks done      | 1     |
      | Tasks failed    | 1     |
      | Tasks running   | 0     |
      | Tasks unknown   | 1     |
      | Tasks cancelled | 2     |
    And the facts of task 1 are
      | label                               | value                     |
      | Task execution identity             | <text>                    |
      | Task intent                         | TASK-A reads two files    |
      | Task profile                        | null                      |
      | Task agent                          | null                      |
      | Task provider                       | scripted                  |
      | Task model                          | scripted                  |
      | Task outcome                        | success                   |
      | Task persistence                    | recorded                  |
      | Task facts limited                  | false                     |
      | Task changed paths                  | 0                         |
      | Task failed calls                   | 1                         |
      | Task unknown calls                  | 0                         |
      | Task calls with effects             | 0                         |
      | Task activity count                 | 2                         |
      | Task activity omitted               | 0                         |
      | Usage provenance                    | normalized_provider_usage |
      | Usage effective input tokens        | 200                       |
      | Usage output tokens                 | 40                        |
      | Usage cache read tokens             | 20                        |
      | Usage latest request sequence       | <count>                   |
      | Usage latest effective input tokens | 100                       |
      | Usage latest output tokens          | 20                        |
      | Usage latest cache read tokens      | 10                        |
      | Usage cache known                   | true                      |
      | Usage latest final                  | true                      |
      | Task activity                       | read: success             |
      | Task activity                       | read: failure             |
    And the facts of task 2 are
      | label                         | value    |
      | Task outcome                  | failure  |
      | Task persistence              | recorded |
      | Task failed calls             | 0        |
      | Task unknown calls            | 0        |
      | Task activity count           | 0        |
      | Usage provenance              | null     |
      | Usage effective input tokens  | null     |
      | Usage cache known             | null     |
    And the facts of task 3 are
      | label                   | value     |
      | Task agent              | writer    |
      | Task outcome            | cancelled |
      | Task persistence        | recorded  |
      | Task calls with effects | 1         |
    And the facts of task 4 are
      | label        | value     |
      | Task outcome | cancelled |
    And the facts of task 5 are
      | label        | value   |
      | Task outcome | unknown |

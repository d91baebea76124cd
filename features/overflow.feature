@overflow
Feature: Overflow
  More happens than is kept or shown. Totals stay true, and every card says how much it leaves out.

  @overflow.warnings @overflow.child-references
  Scenario: Forty warnings
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the setting "internal_tooling.jev" is {"enabled": true, "prompt_injection_protection": {"enabled": true, "enforcement_enabled": true, "failure_policy": "annotate", "tools": ["read"]}}
    And the environment variable "TYPESAFE_API_KEY" is "not-a-key"
    And the environment variable "HTTPS_PROXY" is "http://127.0.0.1:9"
    And the model runs a script meant to "Read one file forty times"
      """
      for (let i = 0; i < 40; i++) {
        tools.call("read", {intent: "Read " + i, paths: ["a.txt"]});
      }
      return {};
      """
    And the model answers "It was read."
    When the prompt "Read the file." is run
    Then the facts of the script are
      | label                     | value    |
      | Script outcome            | success  |
      | Total calls               | 40       |
      | Successful calls          | 40       |
      | Failed calls              | 0        |
      | Unknown calls             | 0        |
      | Running calls             | 0        |
      | Recoverable failures      | 0        |
      | Warnings                  | 40       |
      | Warnings omitted          | 38       |
      | Changed paths             | 0        |
      | Changed paths omitted     | 0        |
      | Change count qualifier    | exact    |
      | Execution persistence     | recorded |
      | Completed with warnings   | true     |
      | Child references complete | false    |
      | Child references omitted  | 8        |
      | Warning                   | <text>   |
      | Warning                   | <text>   |

  @overflow.paths-previewed @overflow.paths-reported
  Scenario: Sixty files
    Given the model runs a script meant to "Write sixty files"
      """
      for (let i = 0; i < 60; i++) {
        tools.call("write", {intent: "Write " + i, path: "f" + String(i).padStart(4, "0") + ".txt", content: "x\n"});
      }
      return {};
      """
    And the model answers "They are written."
    When the prompt "Write the files." is run
    Then the facts of the script are
      | label                     | value                 |
      | Script outcome            | success               |
      | Total calls               | 60                    |
      | Successful calls          | 60                    |
      | Failed calls              | 0                     |
      | Unknown calls             | 0                     |
      | Running calls             | 0                     |
      | Warnings                  | 0                     |
      | Changed paths             | 60                    |
      | Changed paths omitted     | 57                    |
      | Change count qualifier    | exact                 |
      | Execution persistence     | recorded              |
      | Completed with warnings   | false                 |
      | Child references complete | false                 |
      | Child references omitted  | 28                    |
      | Changed path              | <workspace>/f0000.txt |
      | Changed path              | <workspace>/f0001.txt |
      | Changed path              | <workspace>/f0002.txt |

  @overflow.paths-tracked @slow
  Scenario: Thousand files
    Given the setting "capabilities.tools.code_mode.limits.max_inner_calls" is 1000
    And the model runs a script meant to "Write a thousand files"
      """
      for (let i = 0; i < 1000; i++) {
        tools.call("write", {intent: "Write " + i, path: "f" + String(i).padStart(4, "0") + ".txt", content: "x\n"});
      }
      return {};
      """
    And the model answers "They are written."
    When the prompt "Write the files." is run
    Then the facts of the script are
      | label                     | value   |
      | Script outcome            | success |
      | Total calls               | 1000    |
      | Successful calls          | 1000    |
      | Failed calls              | 0       |
      | Unknown calls             | 0       |
      | Changed paths             | 1000    |
      | Changed paths omitted     | 997     |
      | Change count qualifier    | exact   |
      | Child references complete | false   |
      | Child references omitted  | 968     |

  @overflow.long-path
  Scenario: Long path
    Given the model runs a script meant to "Write far down"
      """
      const part = "d".repeat(120);
      const path = [part, part, part, part, part, "deep.txt"].join("/");
      const made = tools.call("bash", {intent: "Make the folders", command: "mkdir -p " + [part, part, part, part, part].join("/")});
      const result = tools.call("write", {intent: "Write deep", path: path, content: "x\n"});
      return {made: made.success, written: result.success};
      """
    And the model answers "It is written."
    When the prompt "Write it." is run
    Then the facts of the script are
      | label                  | value    |
      | Script outcome         | success  |
      | Total calls            | 2        |
      | Successful calls       | 2        |
      | Failed calls           | 0        |
      | Change count qualifier | at_least |
      | Execution persistence  | recorded |

  @overflow.activities
  Scenario: Twelve calls in a task
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the model starts a batch of tasks meant to "Exercise many activities" at concurrency 1
      | intent            |
      | TASK-A reads much |
    And for task "TASK-A reads much" the model calls
      | tool | arguments                                  |
      | read | {"intent": "Read 01", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 02", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 03", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 04", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 05", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 06", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 07", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 08", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 09", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 10", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 11", "paths": ["a.txt"]}  |
      | read | {"intent": "Read 12", "paths": ["a.txt"]}  |
    And for task "TASK-A reads much" the model answers "A is done." after 0 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
    Then the facts of the batch are
      | label                     | value |
      | Tasks total               | 1     |
      | Tasks done                | 1     |
      | Tasks failed              | 0     |
      | Tasks running             | 0     |
      | Tasks unknown             | 0     |
      | Tasks cancelled           | 0     |
      | Child references complete | true  |
      | Child references omitted  | 0     |
    And the facts of task 1 are
      | label                   | value         |
      | Task outcome            | success       |
      | Task persistence        | recorded      |
      | Task failed calls       | 0             |
      | Task unknown calls      | 0             |
      | Task calls with effects | 0             |
      | Task activity count     | 12            |
      | Task activity omitted   | 4             |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |
      | Task activity           | read: success |

  @overflow.multibyte-text
  Scenario: Long multibyte texts
    Given the model starts a batch of tasks meant to "Exercise long texts" at concurrency 1
      | intent | agent |
      | TASK-A 漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな | éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé |
    And for task "TASK-A 漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな漢字かな" the model answers "A is done." after 0 ms
    And the model answers "The batch is done."
    When the prompt "Run the batch." is run
    Then the facts of the batch are
      | label       | value |
      | Tasks total | 1     |
      | Tasks done  | 1     |
    And the facts of task 1 are
      | label              | value    |
      | Task outcome       | success  |
      | Task intent        | <text>   |
      | Task agent         | <text>   |
      | Task facts limited | true     |
      | Task persistence   | recorded |

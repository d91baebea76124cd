Feature: Edges
  No observation class asks for these runs, but a rule speaks of them and no other run shows a case of it.

  Scenario: Killed before any call
    Given the model calls
      | tool  | arguments                                                    |
      | write | {"intent": "Write one", "path": "one.txt", "content": "1\n"} |
    And the model runs a script meant to "Call nothing, ever"
      """
      while (true) {}
      """
    When the prompt "Write, then spin." is run and the product is killed 1500 ms after "one.txt" exists
    Then the facts of the script are
      | label                             | value              |
      | Script outcome                    | interrupted        |
      | Code Mode intent                  | Call nothing, ever |
      | Total calls                       | null               |
      | Successful calls                  | null               |
      | Failed calls                      | null               |
      | Unknown calls                     | null               |
      | Running calls                     | null               |
      | Elapsed milliseconds              | null               |
      | Child references complete         | null               |
      | Child references omitted          | null               |
      | Execution persistence             | recorded           |
      | Completed with warnings           | null               |
      | Completed actions remain applied  | true               |
      | Rollback                          | false              |
      | External effects may be untracked | true               |

  Scenario: Edit in a script
    Given the workspace file "a.txt" holds
      """
      alpha
      beta
      """
    And the model runs a script meant to "Edit the second line"
      """
      const seen = JSON.stringify(tools.call("read", {intent: "Read a", paths: ["a.txt"]}));
      const tag = /a\.txt#([0-9A-F]+)/.exec(seen)[1];
      tools.call("hash_edit", {intent: "Edit a", input: "[a.txt#" + tag + "]\nSWAP 2.=2:\n+gamma\n"});
      return {};
      """
    And the model answers "It is edited."
    When the prompt "Edit it." is run
    Then the facts of the script are
      | label                     | value             |
      | Script outcome            | success           |
      | Total calls               | 2                 |
      | Successful calls          | 2                 |
      | Failed calls              | 0                 |
      | Unknown calls             | 0                 |
      | Running calls             | 0                 |
      | Warnings                  | 0                 |
      | Changed paths             | 1                 |
      | Changed paths omitted     | 0                 |
      | Change count qualifier    | exact             |
      | Execution persistence     | recorded          |
      | Completed with warnings   | false             |
      | Child references complete | true              |
      | Child references omitted  | 0                 |
      | Changed path              | <workspace>/a.txt |

  @slow @mission-control-only @release:0.104.0
  Scenario: More calls than a batch tracks
    Given the workspace file "a.txt" holds
      """
      alpha
      """
    And the model starts a batch of tasks meant to "Read a file 4,150 times" at concurrency 1
      | intent        |
      | TASK-01 reads |
      | TASK-02 reads |
      | TASK-03 reads |
      | TASK-04 reads |
      | TASK-05 reads |
      | TASK-06 reads |
      | TASK-07 reads |
      | TASK-08 reads |
      | TASK-09 reads |
      | TASK-10 reads |
    And for each task the model calls 415 times
      | tool | arguments                                |
      | read | {"intent": "Read a", "paths": ["a.txt"]} |
    And for each task the model answers "It is read."
    And the model answers "Enough."
    When the prompt "Read and read." is run
    Then the facts of the batch are
      | label           | value |
      | Tasks total     | 10    |
      | Tasks done      | 10    |
      | Tasks failed    | 0     |
      | Tasks running   | 0     |
      | Tasks unknown   | 0     |
      | Tasks cancelled | 0     |
    And the facts of task 1 are
      | label                 | value         |
      | Task intent           | TASK-01 reads |
      | Task outcome          | success       |
      | Task facts limited    | true          |
      | Task failed calls     | 0             |
      | Task unknown calls    | 0             |
      | Task changed paths    | 0             |
      | Task activity count   | 415           |
      | Task activity omitted | 407           |
    And the facts of task 10 are
      | label                   | value         |
      | Task intent             | TASK-10 reads |
      | Task outcome            | success       |
      | Task facts limited      | true          |
      | Task failed calls       | null          |
      | Task unknown calls      | null          |
      | Task calls with effects | null          |
      | Task activity count     | null          |
      | Task activity omitted   | null          |

  @on-request @slow @local-agent-only @release:0.104.0
  Scenario: More calls than a run has room for
    Given the setting "capabilities.tools.code_mode.limits.max_inner_calls" is 1000
    And the model runs a script meant to "Write the first thousand files"
      """
      for (let i = 0; i < 1000; i++) {
        tools.call("write", {intent: "Write " + i, path: "a" + String(i).padStart(4, "0") + ".txt", content: "x\n"});
      }
      return {};
      """
    And the model runs a script meant to "Write the second thousand files"
      """
      for (let i = 0; i < 1000; i++) {
        tools.call("write", {intent: "Write " + i, path: "b" + String(i).padStart(4, "0") + ".txt", content: "x\n"});
      }
      return {};
      """
    And the model answers "They are written."
    When the prompt "Write the files." is run
    Then the facts of script 1 are
      | label                     | value    |
      | Script outcome            | success  |
      | Total calls               | 1000     |
      | Successful calls          | 1000     |
      | Failed calls              | 0        |
      | Unknown calls             | 0        |
      | Running calls             | 0        |
      | Changed paths             | 1000     |
      | Changed paths omitted     | 997      |
      | Change count qualifier    | exact    |
      | Execution persistence     | recorded |
      | Completed with warnings   | false    |
      | Child references complete | false    |
      | Child references omitted  | 968      |
    And the facts of script 2 are
      | label                  | value |
      | Failed calls           | 0     |
      | Change count qualifier | exact |

@recovered-failures
Feature: Recovered failures
  A failed call and the end of its script are two things: a script may handle the failure, or end because of it. A
  warning about a call is neither.

  @recovered-failures.handled
  Scenario: Handled failure
    Given the model runs a script meant to "Fall back to defaults"
      """
      let first = tools.call("read", {intent: "Read settings", paths: ["settings.ini"]});
      if (!first.success) {
        tools.call("write", {intent: "Write defaults", path: "settings.ini", content: "mode=default\n"});
        first = tools.call("read", {intent: "Read defaults", paths: ["settings.ini"]});
      }
      return {success: first.success};
      """
    And the model answers "Defaults are in place."
    When the prompt "Read the settings." is run
    Then the facts of the script are
      | label                   | value                    |
      | Script outcome          | success                  |
      | Total calls             | 3                        |
      | Successful calls        | 2                        |
      | Failed calls            | 1                        |
      | Unknown calls           | 0                        |
      | Running calls           | 0                        |
      | Elapsed milliseconds    | <milliseconds>           |
      | Recoverable failures    | 1                        |
      | Warnings                | 0                        |
      | Changed paths           | 1                        |
      | Change count qualifier  | exact                    |
      | Execution persistence   | recorded                 |
      | Completed with warnings | true                     |
      | Child references complete | true                   |
      | Child references omitted  | 0                      |
      | Changed path            | <workspace>/settings.ini |

  @recovered-failures.fatal
  Scenario: Fatal failure
    Given the model runs a script meant to "Stop at the first failure"
      """
      tools.call("write", {intent: "Write a note", path: "note.txt", content: "before\n"});
      const result = tools.call("read", {intent: "Read missing", paths: ["missing.txt"]});
      if (!result.success) {
        throw new Error("cannot go on without missing.txt");
      }
      return {};
      """
    And the model answers "It could not be done."
    When the prompt "Read the missing file." is run
    Then the facts of the script are
      | label                            | value                |
      | Script outcome                   | failure              |
      | Total calls                      | 2                    |
      | Successful calls                 | 1                    |
      | Failed calls                     | 1                    |
      | Unknown calls                    | 0                    |
      | Running calls                    | 0                    |
      | Elapsed milliseconds             | <milliseconds>       |
      | Recoverable failures             | 1                    |
      | Warnings                         | 0                    |
      | Changed paths                    | 1                    |
      | Change count qualifier           | exact                |
      | Execution persistence            | recorded             |
      | Completed with warnings          | null                 |
      | Completed actions remain applied | true                 |
      | Rollback                         | false                |
      | External effects may be untracked | true                |
      | Changed path                     | <workspace>/note.txt |

  @recovered-failures.child-warns
  Scenario: Reads that warn
    Given the workspace file "one.txt" holds
      """
      one
      """
    And the workspace file "two.txt" holds
      """
      two
      """
    And the workspace file "three.txt" holds
      """
      three
      """
    And the setting "internal_tooling.jev" is {"enabled": true, "prompt_injection_protection": {"enabled": true, "enforcement_enabled": true, "failure_policy": "annotate", "tools": ["read"]}}
    And the environment variable "TYPESAFE_API_KEY" is "not-a-key"
    And the environment variable "HTTPS_PROXY" is "http://127.0.0.1:9"
    And the model runs a script meant to "Read three files that cannot be assessed"
      """
      for (const name of ["one.txt", "two.txt", "three.txt"]) {
        tools.call("read", {intent: "Read " + name, paths: [name]});
      }
      return {};
      """
    And the model answers "All three are read."
    When the prompt "Read the three files." is run
    Then the facts of the script are
      | label                   | value          |
      | Script outcome          | success        |
      | Total calls             | 3              |
      | Successful calls        | 3              |
      | Failed calls            | 0              |
      | Unknown calls           | 0              |
      | Running calls           | 0              |
      | Elapsed milliseconds    | <milliseconds> |
      | Recoverable failures    | 0              |
      | Warnings                | 3              |
      | Warnings omitted        | 1              |
      | Changed paths           | 0              |
      | Changed paths omitted   | 0              |
      | Change count qualifier  | exact          |
      | Execution persistence   | recorded       |
      | Completed with warnings | true           |
      | Warning                 | <text>         |
      | Warning                 | <text>         |

Feature: Sessions that are not saved
  Progress that nobody saved is not promoted into a durable report.

  @mission-control-only
  Scenario: Unsaved script
    Given a session that is not saved
    And the model runs a script meant to "Write in passing"
      """
      tools.call("write", {intent: "Write one", path: "one.txt", content: "1\n"});
      return {};
      """
    And the model answers "Done."
    When the prompt "Write it." is run
    Then the facts of the script are
      | label                 | value       |
      | Script outcome        | success     |
      | Total calls           | 1           |
      | Successful calls      | 1           |
      | Changed paths         | 1           |
      | Execution persistence | unavailable |

Feature: Work inside work
  Batches inside scripts and inside tasks keep their own facts, on whatever level they stand.

  Scenario: Batch in a script
    Given the model runs a script meant to "Delegate from a script"
      """
      tools.call("subagents", {
        intent: "Delegate inside", concurrency: 2,
        tasks: [{intent: "TASK-A answers"}, {intent: "TASK-B is refused"}],
      });
      return {};
      """
    And the model starts a batch of tasks meant to "Delegate once more" at concurrency 2
      | intent            |
      | TASK-A answers    |
      | TASK-B is refused |
    And for task "TASK-A answers" the model answers "A is done." after 0 ms
    And for task "TASK-B is refused" the provider refuses with status 400
    And for task "TASK-A answers" the model answers "A is done again." after 0 ms
    And for task "TASK-B is refused" the provider refuses with status 400
    And the model answers "Both batches are done."
    When the prompt "Delegate twice." is run
    Then the facts of the script are
      | label                     | value   |
      | Script outcome            | success |
      | Total calls               | 1       |
      | Successful calls          | 0       |
      | Failed calls              | 1       |
      | Unknown calls             | 0       |
      | Running calls             | 0       |
      | Changed paths             | 0       |
      | Execution persistence     | recorded |
      | Completed with warnings   | true    |
      | Child references complete | true    |
      | Child references omitted  | 0       |
    And the facts of the batch are
      | label                     | value |
      | Tasks total               | 2     |
      | Tasks done                | 1     |
      | Tasks failed              | 1     |
      | Tasks running             | 0     |
      | Tasks unknown             | 0     |
      | Tasks cancelled           | 0     |
      | Child references complete | true  |
      | Child references omitted  | 0     |
    And the facts of task 1 are
      | label               | value          |
      | Task intent         | TASK-A answers |
      | Task outcome        | success        |
      | Task persistence    | recorded       |
      | Task activity count | 0              |
    And the facts of task 2 are
      | label               | value             |
      | Task intent         | TASK-B is refused |
      | Task outcome        | failure           |
      | Task persistence    | recorded          |
      | Task activity count | 0                 |

  Scenario: Batch in a batch
    Given the model starts a batch of tasks meant to "Delegate" at concurrency 1
      | intent              |
      | TASK-1 delegates on |
    And for task "TASK-1 delegates on" the model calls
      | tool      | arguments                                                                                          |
      | subagents | {"intent": "Delegate on", "tasks": [{"intent": "TASK-2 may not delegate"}], "concurrency": 1}      |
    And for task "TASK-1 delegates on" the model answers "1 is done." after 0 ms
    And for task "TASK-2 may not delegate" the model calls
      | tool      | arguments                                                                                          |
      | subagents | {"intent": "Delegate too far", "tasks": [{"intent": "TASK-3 never starts"}], "concurrency": 1}     |
    And for task "TASK-2 may not delegate" the model answers "2 is done." after 0 ms
    And the model answers "All are done."
    When the prompt "Delegate." is run
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
      | label                   | value               |
      | Task intent             | TASK-1 delegates on |
      | Task outcome            | success             |
      | Task persistence        | recorded            |
      | Task failed calls       | 0                   |
      | Task unknown calls      | 0                   |
      | Task activity count     | 1                   |
      | Task activity omitted   | 0                   |
      | Task activity           | subagents: success  |

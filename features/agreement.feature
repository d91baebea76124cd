Feature: Agreement of the two surfaces
  Mission Control and the local agent publish the same facts from the same selectors. This holds over every recorded run
  of every other feature; it has no run of its own.

  Scenario: Both surfaces say the same of every run
    Then every recorded run reads alike on both surfaces, or a finding says where it does not

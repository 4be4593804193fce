"""Table geometry, deck profiles and enrolment, tag registries, shoe self-test. Knows ``controller.cards`` only."""

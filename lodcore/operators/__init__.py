"""What an operator is: the registry, roles, arguments, LoD rules, alignment, and elementwise operators."""

"""The pages of ``docs/reference``, which follow from the types: ``python -m controller.reference`` writes them.

Nothing imports this but the tests, which compare the pages with what it makes.
"""

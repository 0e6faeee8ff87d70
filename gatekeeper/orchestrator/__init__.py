"""The one atomic step: question -> evaluate -> append -> project. It knows ports only.

Life of a question (SPEC 6, order of answers): `question` says what is asked; `identity` finds the run and
refuses fixed values that differ; `recorded` answers what was answered before; `stages` says what may be
asked; `judge` evaluates and drafts the events; `gate` appends them, or reads again when somebody was first.
"""

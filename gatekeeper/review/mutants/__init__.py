"""Small changes of a policy, one at a time: which of them would no golden case notice?"""

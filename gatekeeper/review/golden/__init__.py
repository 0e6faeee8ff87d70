"""Golden cases: files beside a policy that freeze what it answers to given evidence, run by `policy test`."""

"""What a pull request that changes a policy needs: refusals that name the place, and warnings."""

"""What memory requests cost: sectors, banks, merged counts."""

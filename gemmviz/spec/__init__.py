"""What a kernel asks for and a device allows: launches, limits, legal choices, and where kernels are found."""

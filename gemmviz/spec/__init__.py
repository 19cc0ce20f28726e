"""What a kernel file asks for: its header, the launch that settings make of it, and where kernels are found."""

"""Right kernels with ``main()`` in the habits of public code, and faults planted in them."""

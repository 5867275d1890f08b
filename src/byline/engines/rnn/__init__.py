"""The paper's engine: a multi-headed recurrent network, its training and its compiled kernels."""

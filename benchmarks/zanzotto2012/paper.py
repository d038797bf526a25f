"""What the paper says in numbers; its figures are curves without any.

F. M. Zanzotto & L. Dell'Arciprete, *Distributed tree kernels*, ICML (2012).
"""

# Table 2: Spearman's correlation, by data set, composition and lambda.
CORRELATION = {
    ("qc", "product"): {0.2: 0.993, 0.4: 0.980, 0.6: 0.908, 0.8: 0.644, 1.0: 0.316},
    ("qc", "convolution"): {0.2: 0.994, 0.4: 0.989, 0.6: 0.880, 0.8: 0.377, 1.0: 0.107},
    ("rte", "product"): {0.2: 0.997, 0.4: 0.990, 0.6: 0.890, 0.8: 0.469, 1.0: 0.169},
    ("rte", "convolution"): {0.2: 0.998, 0.4: 0.961, 0.6: 0.350, 0.8: 0.039, 1.0: 0.000},
}

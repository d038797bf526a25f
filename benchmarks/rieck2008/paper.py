"""What the paper says in numbers; the rest of its figures are curves without any.

K. Rieck, U. Brefeld & T. Krueger, *Approximate kernels for trees*, FIRST Reports 5/2008, Fraunhofer
Institute FIRST (2008).
"""

AUC = {"questions": 73.0, "documents": 97.0}  # exact and approximate; their documents are web spam
ENOUGH_SYMBOLS = 0.1  # of all: as good as exact from here on
N_CHOSEN = {"questions": 8, "documents": 2}  # in Fig. 2
CHOSEN = {"NP", "PP", "VP", "S1", "SBARQ", "SQ", "TERM", "DOT"}  # of questions, always
N_STABLE = {"questions": 150, "documents": 120}  # trees from which on the choice is the same
PAGE_SYMBOLS = ("html", "body")  # that they choose for HTML pages
# Two trees of 10,000 nodes, exact.
GIGABYTES = 1.6
MINUTES = 6.0

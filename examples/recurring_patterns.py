"""Find the patterns that recur in a small treebank, and the trees that are near copies."""

from filbert import Forest
from filbert.clones import clone_classes
from filbert.fragments import recurring_fragments

X = Forest(
    [
        "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))",
        "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N bird))))",
        "(S (NP (D a) (N bird)) (VP (V sings)))",
        "(S (NP (D the) (N cat)) (VP (V sleeps)))",
    ]
)
found = recurring_fragments(X, min_size=4)
print(found[found.count.argsort(kind="stable")[::-1]])
for clones in clone_classes(X, min_similarity=0.6):
    print(f"{clones.similarity:.2f}", [str(X[i]) for i in clones.members])

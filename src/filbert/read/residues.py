"""The names of residues and linkages in IUPAC-condensed notation.

A residue is a monosaccharide with what comes before and behind its name: ``Neu5Ac``, ``D-Fuc``,
``GlcNAc6S``, ``2,5-Anhydro-Man-ol``, ``LDManHepOPEtn``. The names are those of the Symbol
Nomenclature for Glycans (Neelamegham et al., Glycobiology 2019) and of the substituents and rare
sugars in SugarBase (Burkholz et al., Cell Reports 2021).
"""

import re
from functools import lru_cache

_SUGARS = """
    Abe Acef Aci Aco All Alt Ami Api Ara Asc Bac Boi Col Cym Dha Dhp Dig Ery Fru Fuc Fus Gal Glc Gro
    Gul Hep Hex Ido Kdn Kdo Ko Leg Lyx Man Mur Neu Non Oct Ole Oli Par Pen Per Pne Psi Pse Qui Rha
    Rib Rul Sed Sia Sor Suc Sug Tag Tal Tet The Thr Thre Tri Tyv Vio Xlu Xul Xyl Yer
"""
_SUBSTITUENTS = """
    A Ac Ach Aep Ala Am Asp Bu But Bz C Cet Cho Cin Cl Cm Coum Cys Et Etg Etn EtN F Fer Fm Fo Gc
    Glu Gly H Hb Hse I Lac Lau Lys Mal Mar Me Myr N O Orn P Pam Penn Pr Pro Prop Py Pyr S Ser Shb
    Sin Ste Ulo Ulosaric Ulosonic Vac
"""


def _one_of(names: str) -> str:
    """Return a pattern for the longest of some names. It never takes a shorter one instead."""
    listed = sorted(names.split(), key=len, reverse=True)
    return f"(?>{'|'.join(listed)})"


# A furanose, a pyranose, or an acid such as Dhpa. "Penn" and "Prop" do not begin with sugars.
_SUGAR = rf"{_one_of(_SUGARS)}(?![b-eg-oq-z])[fpa]?"
_BEFORE = r"(?>aldehyde-|[DLab]-|[DL]{2}|\d(?:,\d)*-Anhydro-|\d?[de]|c)*+"
_BEHIND = rf"(?>{_SUGAR}|{_one_of(_SUBSTITUENTS)}|-[DL]-|\den|\d|,(?=\d)|-(?=(?:OP|N)-ol))*+"
_END = r"(?:-(?:ol|onic|uronic|aric))?"
_RESIDUE = re.compile(f"{_BEFORE}{_SUGAR}{_BEHIND}{_END}")

_ANOMER = "[abαβ?]"
_POSITIONS = r"(?:\d{1,2}|\?)(?:[/|,](?:\d{1,2}|\?))*+"
LINKAGE = re.compile(rf"{_ANOMER}?{_POSITIONS}-(?:(?:P-)?{_POSITIONS}{_ANOMER}?)?")
"""``b1-4``, ``a2-3/6``, ``?1-?``, ``1-P-6``, and ``b1-`` if the other end is open."""


@lru_cache(1 << 12)
def is_residue(name: str) -> bool:
    """Return whether a name is made of known parts.

    >>> is_residue("Neu5Ac"), is_residue("2,5-Anhydro-Man-ol"), is_residue("hello")
    (True, True, False)
    """
    return _RESIDUE.fullmatch(name) is not None

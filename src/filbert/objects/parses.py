"""Parses of spaCy and stanza: dependency trees as for CoNLL-U, and stanza's constituents."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.given import described
from filbert.objects.texts import listed, texts_of
from filbert.read.bracket_text import bracket_text
from filbert.read.dependencies import BadWordError, DependencyOptions, Word, dependency_text


def spacy_texts(parses: Any, options: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of the sentences of one Doc, or of one tree for a Span or each item."""
    chosen = _options("from_spacy", options)
    if hasattr(parses, "start"):  # a Span; its sents are the whole sentences that it is part of
        one_by_one: Iterable[Any] = [parses]
    elif hasattr(parses, "sents"):
        one_by_one = _sentences(parses)
    else:
        one_by_one = listed(parses, "Docs or Spans")

    def text_of(tokens: Any) -> str:
        if not hasattr(tokens, "sents"):
            raise InputTypeError(f"expected a Doc or Span of spaCy, got {described(tokens)}")
        return _text_of(_spacy_words(tokens), chosen)

    return texts_of(one_by_one, text_of)


def stanza_texts(parses: Any, options: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of the sentences of one Document, or of one tree for each item."""
    constituency = options.get("tree") == "constituency"
    if constituency and len(options) > 1:
        raise InvalidParameterError("tree='constituency' has no other options")
    chosen = DependencyOptions() if constituency else _options("from_stanza", options)
    if hasattr(parses, "words"):
        parses = [parses]
    one_by_one = getattr(parses, "sentences", parses)

    def text_of(parse: Any) -> str:
        sentences = getattr(parse, "sentences", [parse])
        if not all(hasattr(sentence, "words") for sentence in sentences):
            raise InputTypeError(
                f"expected a Document or Sentence of stanza, got {described(parse)}"
            )
        if constituency:
            return _constituents(sentences)
        return _text_of(_stanza_words(sentences), chosen)

    return texts_of(listed(one_by_one, "Documents or Sentences"), text_of)


def _options(method: str, given: dict[str, Any]) -> DependencyOptions:
    try:
        return DependencyOptions(**given)
    except TypeError:
        known = ", ".join(DependencyOptions.__dataclass_fields__)
        raise InvalidParameterError(
            f"{method} got an unknown option among {', '.join(given)}: it has {known}"
        ) from None


def _text_of(words: list[Word], options: DependencyOptions) -> str:
    if not words:
        raise ParseError("there are no words", hint="leave out empty texts")
    try:
        return dependency_text(words, options)
    except BadWordError as error:
        raise ParseError(f"word {error.word}: {error.reason}", hint=error.hint) from None


# ---------------------------------------------------------------- spaCy


def _sentences(parse: Any) -> Iterable[Any]:
    """Return the sentences of a Doc."""
    try:
        return list(parse.sents)
    except ValueError:  # spaCy's E030: no sentence boundaries
        raise ParseError(
            "the Doc has no sentences", hint="run a pipeline that has a parser first"
        ) from None


def _spacy_words(tokens: Any) -> list[Word]:
    words = list(tokens)
    positions = {word.i: position for position, word in enumerate(words)}
    if len(words) > 1 and not any(word.dep_ or word.head.i != word.i for word in words):
        raise ParseError(
            "there is no dependency parse", hint="run a pipeline that has a parser first"
        )
    return [
        Word(
            word.text,
            word.lemma_,
            word.pos_,
            word.tag_,
            word.dep_,
            # The head of a root is the root itself. The head of a part's root is outside the part.
            -1 if word.head.i == word.i else positions.get(word.head.i, -1),
        )
        for word in words
    ]


# ---------------------------------------------------------------- stanza


def _stanza_words(sentences: Sequence[Any]) -> list[Word]:
    made: list[Word] = []
    for sentence in sentences:
        first, n = len(made), len(sentence.words)
        for word in sentence.words:
            if word.head is None or not 0 <= word.head <= n:
                raise ParseError(
                    f"word {len(made)}: the head of {word.text!r} is {word.head}",
                    hint="run a pipeline that has the processor depparse first",
                )
            head = first + word.head - 1 if word.head else -1
            made.append(Word(word.text, word.lemma, word.upos, word.xpos, word.deprel, head))
    return made


def _constituents(sentences: Sequence[Any]) -> str:
    if len(sentences) != 1:
        raise ParseError(f"there are {len(sentences)} sentences", hint="pass them one by one")
    root = getattr(sentences[0], "constituency", None)
    if root is None:
        raise ParseError(
            "the sentence has no constituents",
            hint="run a pipeline that has the processor constituency first",
        )

    def view(node: Any) -> tuple[str, Sequence[Any]]:
        return str(node.label), node.children

    return bracket_text(root, view)

"""Maps words to rows of the table. `packages/toolyard/src/models/table/pieces.ts` splits texts in the same way."""

import re
import unicodedata

MAX_WORD_CHARS = 48
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")


def words(text):
    """Returns lower-case words without accents, split at all other characters and inside `camelCase`."""
    spaced = _CAMEL.sub(" ", text)
    plain = "".join(c for c in unicodedata.normalize("NFKD", spaced) if unicodedata.category(c)[0] != "M")
    return _WORD.findall(plain.lower())


def longest_pieces(word, numbers):
    """Returns the longest pieces from the left; None if the pieces cannot spell the word."""
    found = []
    at = 0
    while at < len(word):
        end = len(word)
        while end > at and (number := numbers.get(("##" if at else "") + word[at:end])) is None:
            end -= 1
        if end == at:
            return None
        found.append(number)
        at = end
    return found


class Pieces:
    """The vocabulary: whole words, and `##` pieces that continue one."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._known = {}

    def of_word(self, word):
        """Returns the longest pieces from the left; an empty list if the pieces cannot spell the word."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = longest_pieces(word[:MAX_WORD_CHARS], self.numbers) or []
        return known

    def of_text(self, text, most=256):
        found = []
        for word in words(text):
            found += self.of_word(word)
            if len(found) >= most:
                break
        return found[:most]

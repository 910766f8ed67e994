"""Numbers with the word they count in its right form: `{count:line|lines}` in a text of the catalogue."""

from __future__ import annotations

from kb.entry import Language


class Counted(int):
    """A number that picks the form of a word: one and other in English; one, few and many in Russian (as in CLDR)."""

    language: Language

    def __new__(cls, value: int, language: Language) -> Counted:
        """A number in a text of `language`."""
        number = super().__new__(cls, value)
        number.language = language
        return number

    def __format__(self, spec: str) -> str:
        forms = spec.split("|")
        return forms[self._form(len(forms))] if len(forms) > 1 else super().__format__(spec)

    def _form(self, forms: int) -> int:
        if self.language != "ru":
            return 0 if self == 1 or forms == 1 else 1
        ones, tens = self % 10, self % 100
        if ones == 1 and tens != 11:
            return 0
        return 1 if ones in (2, 3, 4) and tens not in (12, 13, 14) else 2

"""The masks of Python and of TypeScript do the same: both read packages/spec/masking/vectors.json."""

from __future__ import annotations

import json
import pathlib
import re
import unittest

from svc_runtime.for_providers.masking import SecretsMasker, redact
from svc_runtime.run.credential_patterns import _NAME_HINTS, mask_credentials
from svc_runtime.run.masking_rules import COMMON_WORDS
from svc_runtime.run.masks import Masks, is_maskable
from svc_runtime.run.sensitive_names import SENSITIVE_PARTS

from .nightly import IS_NIGHTLY

_VECTORS = json.loads(
    (pathlib.Path(__file__).parents[2] / "packages/spec/masking/vectors.json").read_text(encoding="utf-8")
)


class Vectors(unittest.TestCase):
    def test_credentials_by_pattern(self) -> None:
        for text, shown in _VECTORS["patterns"]:
            self.assertEqual(mask_credentials(text), shown, text)
            self.assertEqual(mask_credentials(shown), shown)

    def test_tokens_by_shape(self) -> None:
        for token in _VECTORS["tokens"]:
            self.assertEqual(mask_credentials(f"got {token[1:]}, then"), "got ***, then")
            self.assertEqual(mask_credentials(f"({token[1:]})"), "(***)")

    def test_what_people_must_be_able_to_read(self) -> None:
        for text in _VECTORS["untouched"]:
            self.assertEqual(mask_credentials(text), text)

    def test_known_values(self) -> None:
        for case in _VECTORS["values"]:
            masks = Masks()
            for secret in case["secrets"]:
                masks.add(secret)
            self.assertEqual(masks.apply(case["text"]), case["shown"])

    def test_common_words_are_no_secrets(self) -> None:
        self.assertEqual([word for word in COMMON_WORDS if is_maskable(word)], [])

    def test_every_sensitive_name_has_a_hint_in_it(self) -> None:
        for part in re.sub(r"\(\?[:!][^)]*\)|\[[^]]*\]\??", "", SENSITIVE_PARTS).split("|"):
            self.assertTrue(any(hint in part for hint in _NAME_HINTS), part)

    def test_costs_one_look_at_any_text(self) -> None:
        # A rule that looked again from each position would take minutes for each of these, and hours at night.
        length = 100_000 if IS_NIGHTLY else 30_000
        pieces = [
            "a",
            " ",
            "=",
            '"',
            "'",
            "\\",
            '\\"',
            ":",
            "://",
            "@",
            "eyJ",
            ".",
            "sk-",
            "AKIA",
            "ghp_",
            "-----BEGIN ",
        ]
        pieces += [
            "password",
            "password=",
            '"password":',
            '"a":"',
            "'a':",
            "://a:",
            "bearer ",
            "authorization ",
            "cookie:",
        ]
        pieces += [
            "-----BEGIN PRIVATE KEY-----",
            "SG.",
            "SG.aaaaaaaaaaaaaaaaaaaa",
            "=\\",
            'token="\\\\',
            "xoxb-",
            "a:b@",
        ]
        masks = Masks()
        masks.add("some-secret")
        for piece in pieces:
            long = piece * (length // len(piece) + 1)
            for text in (long, f"password={long}", f"{long}=x"):
                self.assertTrue(masks.apply(text))


class OfProviders(unittest.TestCase):
    def test_kinds_of_values_that_a_subclass_knows_are_found_wherever_they_are(self) -> None:
        class Box:
            def __init__(self, text: str) -> None:
                self.text = text

        class Opens(SecretsMasker):
            def _redact(self, item, name, depth, max_depth, replacement="***", **_):
                if isinstance(item, Box):
                    return self._redact(item.text, "password", depth + 1, max_depth, replacement)
                return super()._redact(item, name, depth, max_depth, replacement)

        value = {"list": [Box("hidden")], "api_key": ["k", None], "plain": ("open", 1)}
        self.assertEqual(Opens().redact(value), {"list": ["***"], "api_key": ["***", None], "plain": ("open", 1)})
        self.assertEqual(redact({"password": "p", "n": {"token": "t"}}), {"password": "***", "n": {"token": "***"}})


if __name__ == "__main__":
    unittest.main()

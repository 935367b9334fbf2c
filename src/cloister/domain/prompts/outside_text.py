"""Sanitises untrusted text for prompts: removes our marks and the control tokens of chat templates (ISO-4, MEM-10).

`harmless` is for quoted text: it leaves no angle bracket and no invisible character. `without_control_words` is for messages that
are sent with their own role: people paste code there, so it changes only whole control tokens. Both recognise disguises that a
tokeniser or a reader may see through: other Unicode forms of a letter, and invisible characters inside a word. Both are idempotent,
and take linear time.
"""

import unicodedata
from collections.abc import Iterator

from cloister.domain.patterns import Match, escaped, linear


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MARK = "recalled-memory"
_BROKEN_MARK = "recalled·memory"

# Control characters except line breaks and tabs, invisible format characters, lone surrogates. U+E0000 to U+E0FFF can spell whole
# sentences that no person sees.
_JOINERS = "\u200c\u200d\ufe0f"
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_BREAKS = "\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029"
# Characters after which a joiner is legitimate: scripts that join their letters, and emoji.
_JOINED = "\u0590-\u1fff\u2190-\u2767\u2772-\u27bf\u2900-\u2bff\u3040-\ud7ff\uf900-\ufaff\U00010000-\U0001faff"

_LEFT = "<\ufe64\uff1c\u2039\u27e8\u3008\u2329\u276c\u276e\u2770\u02c2\u1438"
_RIGHT = ">\ufe65\uff1e\u203a\u27e9\u3009\u232a\u276d\u276f\u2771\u02c3\u1433"
_BARS = "|\uff5c\u01c0\u2223\u2502\uffe8\u00a6"
_PLAIN = {
    **dict.fromkeys(_LEFT, "‹"),
    **dict.fromkeys(_RIGHT, "›"),
    **dict.fromkeys("\uff3b\ufe47", "["),
    **dict.fromkeys("\uff3d\ufe48", "]"),
    **dict.fromkeys("\uff5c\uffe8", "|"),
    **dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029", "\n"),
}
_ANGLES = str.maketrans({**dict.fromkeys(_LEFT, "‹"), **dict.fromkeys(_RIGHT, "›")})
_SQUARES = str.maketrans({**dict.fromkeys("[\uff3b\ufe47", "("), **dict.fromkeys("]\uff3d\ufe48", ")")})
_GAP = f"[{_INVISIBLE}{_JOINERS}]*+"
# The name between the brackets of a possible control token, in any Unicode form; its folded form is then looked up.
_NAME = f"(?:[^\\s{_LEFT}{_RIGHT}\\[\\]\uff3b\uff3d\ufe47\ufe48{_INVISIBLE}{_JOINERS}]{_GAP}){{1,64}}+"
_TOKENS = _names(
    "s bos eos pad unk sop eop eoh eoa bot eot start_of_turn end_of_turn start_of_image end_of_image begin_of_text end_of_text "
    "im_start im_end bos_token eos_token tool_call tool_response tool_calls tool_result function_call function_calls sys"
)
_NUMBERED = ("extra_id_", "reserved_", "special_", "unused_token_", "unused")
_SQUARE_TOKENS = _names(
    "inst system_prompt available_tools tool_calls tool_results tool_content gmask smask bos eos think args call_id system user "
    "assistant"
)
_ROLES = _names("user assistant human system")
_HEADINGS = _ROLES | _names("instruction instructions response input output question answer prompt bot ai")

# `<|im_start|>`, `<|turn>`, `<｜User｜>`, `</s>`, `<<SYS>>`, `<extra_id_0>`
_ANGLED = linear(f"(?:[{_LEFT}]{_GAP}){{1,2}}+({_NAME})[{_RIGHT}](?:{_GAP}[{_RIGHT}])?")
# `[INST]`, `[/INST]`, `[gMASK]`, `[UNUSED_TOKEN_146]`
_SQUARED = linear(f"[\\[\uff3b\ufe47]{_GAP}({_NAME})[\\]\uff3d\ufe48]")
_CAPITALS = linear(r"\[(/?+[A-Z][A-Z0-9_]{1,63}+)\]")
# `Assistant:` at the start of a line, and `### Instruction:`
_BLANKS = "\\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_HASHES = "#\ufe5f\uff03"
_SPEAKER = linear(
    f"(?<![^{_BREAKS}])"
    f"([{_BLANKS}{_INVISIBLE}{_JOINERS}{_HASHES}]*+)"
    f"((?:[^\\W\\d_]{_GAP}){{2,16}}+)"
    f"([{_BLANKS}{_INVISIBLE}{_JOINERS}]*+[:\uff1a\ufe55\ufe13\u2236\ua789])"
)
_UNSEEN = linear(f"[{_INVISIBLE}{_JOINERS}]+")
_TO_BAR = str.maketrans(dict.fromkeys(_BARS, "|"))
_ODD = linear(f"[{escaped(''.join(_PLAIN))}{_INVISIBLE}]")
_JOINER = linear(f"(?<=[{_JOINED}])(\ufe0f?[\u200c\u200d](?=[{_JOINED}])|\ufe0f)|[{_JOINERS}]")

# Our own mark, also as a model may rewrite it: with other brackets, escaped for HTML, JSON or a URL, in other letters.
_OPENERS = f"{_LEFT}\u00ab\u27ea\u300a\u226a\\[\uff3b\ufe47\u3010\u3014\u27e6{{\uff5b"
_CLOSERS = f"{_RIGHT}\u00bb\u27eb\u300b\u226b\\]\uff3d\ufe48\u3011\u3015\u27e7}}\uff5d"
_DASHES = "\\-_\u2010-\u2015\u2043\u2212\u02d7\ufe58\ufe63\uff0d\uff3f"
_SPACE = f"[\\s{_INVISIBLE}{_JOINERS}\\\\*`\"']*+"
_MARK = linear(
    f"(?:[{_OPENERS}]|&(?:amp;){{0,4}}+(?:lt|LT|#0{{0,6}}60|#[xX]0{{0,6}}3[cC]);?|\\\\(?:u00|x)3[cC]|%3[cC])"
    f"[!?\\-]{{0,4}}+{_SPACE}(?P<closes>[/\uff0f\u2044\u2215]?){_SPACE}"
    f"(?P<first>(?:[^\\W\\d_]{_GAP}){{8}}+)[\\s{_DASHES}{_INVISIBLE}{_JOINERS}\\\\*`\"']{{0,16}}+(?P<second>(?:[^\\W\\d_]{_GAP}){{6}}+)"
    f"(?:[^{_OPENERS}{_CLOSERS}&\\\\%]{{0,200}}+(?:[{_CLOSERS}]|&(?:amp;){{0,4}}+(?:gt|GT|#0{{0,6}}62|#[xX]0{{0,6}}3[eE]);?))?"
)


def is_plain(text: str) -> bool:
    """Whether a quick test shows that a text has no mark and no control token, as most texts do."""
    has_brackets = "<" in text or "[" in text or ":" in text
    return not has_brackets and text.isascii() and "recalled" not in text.lower()


def may_have_marks(text: str) -> bool:
    """Whether a quick test shows no more: most texts have none."""
    return not text.isascii() or "recalled" in text.lower()


def marks(text: str) -> Iterator[Match[str]]:
    """The matches of everything that a reader may take for our mark, in order; the group `closes` is empty for an opening one."""
    if not may_have_marks(text):
        return
    for found in _MARK.finditer(text):
        if _is_mark(found):
            yield found


def harmless(text: str) -> str:
    """A text that can be quoted between marks: without marks, control tokens and invisible characters."""
    if not text.isascii() or not text.isprintable():
        text = _ODD.sub(_plain, text)
        text = _JOINER.sub(lambda found: found.group(1) or "", text)
    elif "<" in text or ">" in text:
        text = text.translate(_ANGLES)
    if may_have_marks(text):
        text = _MARK.sub(_broken, text)
    if "[" in text:
        text = _CAPITALS.sub(r"(\1)", text)
    return without_control_words(text)


def without_control_words(text: str) -> str:
    """A message's text as it is sent with its role. What a model's server could take for the end of the message, or for another
    role, gets other brackets; everything else is unchanged."""
    text = without_control_tokens(text)
    return _SPEAKER.sub(_bracketed, text) if ":" in text or not text.isascii() else text


def without_control_tokens(text: str) -> str:
    """A text without whole control tokens such as `<|im_start|>` and `[INST]`. Lines that begin with a role are unchanged."""
    anything = not text.isascii()
    if anything or "<" in text:
        text = _ANGLED.sub(_other_angles, text)
    return _SQUARED.sub(_other_squares, text) if anything or "[" in text else text


def _folded(word: str) -> str:
    """A short word folded for comparison: NFKC, without case and invisible characters."""
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", word)).casefold()


def _is_mark(found: Match[str]) -> bool:
    return _folded(found["first"] + found["second"]) == MARK.replace("-", "")


def _broken(found: Match[str]) -> str:
    return f"‹{'/' if found['closes'] else ''}{_BROKEN_MARK}›" if _is_mark(found) else found.group()


def _plain(odd: Match[str]) -> str:
    return _PLAIN.get(odd.group(), "")


def _other_angles(found: Match[str]) -> str:
    name = _folded(found[1]).translate(_TO_BAR).removeprefix("/")
    barred = len(name) > 1 and (name[0] == "|" or name[-1] == "|")
    is_token = barred or name in _TOKENS or _is_numbered(name)
    return found.group().translate(_ANGLES) if is_token else found.group()


def _other_squares(found: Match[str]) -> str:
    name = _folded(found[1]).removeprefix("/")
    return found.group().translate(_SQUARES) if name in _SQUARE_TOKENS or _is_numbered(name) else found.group()


def _is_numbered(name: str) -> bool:
    return any(name.startswith(stem) and name[len(stem) :].isdecimal() for stem in _NUMBERED)


def _bracketed(found: Match[str]) -> str:
    """`Assistant:` → `(Assistant):`. Headings such as `Answer:` count as roles only after `###`."""
    lead, word, colon = found.groups()
    known = _HEADINGS if any(mark in lead for mark in _HASHES) else _ROLES
    return f"{lead}({word}){colon}" if _folded(word) in known else found.group()

"""Recognises small talk: greetings, thanks, farewells and short acknowledgements, for which nothing is recalled (CTX-6).

A query is small talk if it consists of such phrases and nothing else. A capitalised word that is not in the table may follow a
greeting or thanks: "Hi Melanie!".
"""

import unicodedata

from cloister.domain.patterns import linear

_MOST_CHARACTERS = 120
_MOST_WORDS = 16
_LONGEST_PHRASE = 6
_APOSTROPHES = str.maketrans("", "", "'’ʼ`´")
_WORD = linear(r"[^\W_]+")
_UNSPACED_TEXT = linear("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")

_ADDRESSING = """
hello; hi; hey; hello there; hi there; hey there; hiya; howdy; yo; greetings; good morning; good afternoon; good evening;
good day; morning; good night; goodnight; bye; goodbye; bye bye; see you; see ya; welcome back; thanks; thank you; thx; ty;
cheers; sorry; hallo; guten morgen; guten tag; guten abend; gute nacht; moin; servus; danke; vielen dank; tschüss;
auf wiedersehen; hola; buenos dias; buenos días; buenas tardes; buenas noches; gracias; muchas gracias; adios; adiós; bonjour;
bonsoir; salut; merci; merci beaucoup; au revoir; ciao; buongiorno; buonasera; grazie; grazie mille; ola; olá; bom dia;
boa tarde; boa noite; obrigado; obrigada; hoi; goedemorgen; dank je; dank je wel; bedankt
"""
_OTHERS = """
how are you; how are you doing; how are you feeling; how are things; how is it going; hows it going; how do you do;
how have you been; hows your day; how is your day; hows your day going; how was your day; whats up; what is up; sup; whats new;
what is new; nice to meet you; pleased to meet you; good to see you; nice to see you; long time no see; and you; what about you;
how about you; today; again; everyone; everybody; all; friend; buddy; my friend; dear; there; then; now; too; as well; im fine;
i am fine; im good; i am good; im well; im ok; im okay; im great; fine; doing well; doing fine; not bad; all good; very well;
so much; very much; a lot; a bunch; a million; in advance; that helps; that helped; it helps; this helps; that helps a lot;
that was helpful; very helpful; for your help; for the help; for that; for helping; i appreciate it; i appreciate that;
appreciated; much appreciated; you are welcome; youre welcome; welcome; no problem; no worries; not at all; my pleasure;
dont mention it; any time; anytime; yes; yep; yeah; yup; yes please; no; nope; nah; no thanks; no thank you; please; sure;
of course; certainly; absolutely; definitely; exactly; indeed; right; correct; true; thats right; thats correct; thats true;
agreed; i agree; maybe; perhaps; i guess; i think so; i see; oh i see; i understand; understood; i got it; got it; gotcha;
makes sense; that makes sense; noted; will do; ok; okay; k; alright; all right; fine by me; sounds good; sounds great;
sounds good to me; looks good; good; great; nice; cool; perfect; awesome; amazing; wonderful; excellent; fantastic; brilliant;
lovely; super; wow; oh; ah; hmm; hm; mm; um; uh; well; so; haha; hahaha; lol; lmao; rofl; hehe; thats funny; funny; very funny;
thats great; thats good; thats nice; thats cool; thats awesome; thats amazing; thats interesting; interesting; how nice;
how interesting; good job; great job; nice job; well done; good work; nice work; nice one; good one; happy to hear that;
glad to hear that; glad to hear it; good to hear; good to know; good for you; congratulations; congrats; im sorry; my bad; oops;
excuse me; pardon; sorry about that; never mind; nevermind; forget it; no matter; it doesnt matter; let me think; let me see;
one moment; one moment please; one second; just a moment; just a second; hold on; wait; wait a moment; wait a minute; brb;
be right back; im back; go on; go ahead; continue; please continue; carry on; proceed; keep going; tell me more; next; done;
thats all; thats it; nothing; nothing else; that is all; test; testing; just testing; this is a test; ping; are you there;
are you still there; can you hear me; do you hear me; is anyone there; anybody there; who are you; what are you;
what is your name; whats your name; are you a robot; are you a bot; are you an ai; are you human; are you real; what can you do;
how can you help; how can you help me; what do you do; can you help; can you help me; could you help me; please help; help me;
help; i need help; i have a question; can i ask you something; can i ask you a question; can i ask a question;
may i ask a question; tell me a joke; tell me something; tell me something funny; make me laugh; sing me a song; see you later;
see you soon; see you tomorrow; see you then; see you next week; talk to you later; talk to you soon; talk later; talk soon;
later; tomorrow; take care; have a nice day; have a good day; have a great day; have a good one; have a nice weekend;
have a good weekend; have a great weekend; have a nice evening; have a good evening; have a good night; have a lovely day;
enjoy your day; enjoy your weekend; sleep well; sweet dreams; good luck; same to you; you too; you as well; likewise;
and yourself; wie geht es dir; wie gehts; wie geht es ihnen; alles klar; sehr gut; ja; nein; bitte; gern geschehen; bis bald;
bis morgen; bis später; genau; schön; schönen tag; schönen tag noch; schönes wochenende; como estas; cómo estás; que tal;
qué tal; todo bien; muy bien; bien; vale; si; sí; por favor; de nada; hasta luego; hasta pronto; hasta manana; hasta mañana;
buen dia; buen día; comment ca va; comment ça va; ca va; ça va; comment allez vous; tres bien; très bien; d accord; oui; non;
s il vous plait; s il vous plaît; de rien; a bientot; à bientôt; a demain; à demain; bonne journée; bonne nuit; bonne soirée;
come stai; come va; tutto bene; va bene; prego; per favore; a presto; arrivederci; buona notte; buona giornata; tudo bem;
como vai; por nada; ate logo; até logo; hoe gaat het; tot ziens; alsjeblieft; graag gedaan; goed
"""
_UNSPACED = """
你好; 您好; 你好吗; 您好吗; 大家好; 早上好; 下午好; 晚上好; 早安; 晚安; 谢谢; 谢谢你; 谢谢您; 非常感谢; 多谢; 感谢; 再见; 拜拜;
明天见; 好的; 好; 好吧; 行; 是的; 是; 对; 不是; 不; 不用了; 没事; 没关系; 不客气; 不好意思; 对不起; 抱歉; 哈哈; 哈哈哈; 嗯; 哦;
知道了; 明白; 明白了; 太好了; 很好; 不错; 你是谁; 在吗; 你在吗; 最近怎么样; 請問; 请问; こんにちは; こんばんは; おはよう;
おはようございます; おやすみ; おやすみなさい; はじめまして; 元気ですか; お元気ですか; ありがとう; ありがとうございます;
ありがとうございました; どうもありがとう; どうもありがとうございます; どうも; さようなら; またね; じゃあね; また明日; はい;
いいえ; うん; ううん; いや; お願いします; よろしくお願いします; よろしく; 了解; 了解です; わかりました; 分かりました; なるほど;
そうですか; そうですね; すみません; ごめんなさい; ごめん; すごい; いいですね; 大丈夫; 大丈夫です; あなたは誰ですか; もしもし;
안녕하세요; 안녕; 감사합니다; 고마워요; 고마워; 안녕히 가세요; 네; 아니요; 알겠습니다; 죄송합니다
"""


def _phrases(table: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in table.replace("\n", " ").split(";") if phrase.split())


_MAY_ADDRESS = _phrases(_ADDRESSING)
_PHRASES = _MAY_ADDRESS | _phrases(_OTHERS)
_WHOLE = frozenset("".join(phrase) for phrase in _phrases(_UNSPACED))
_FIRST_WORDS = frozenset(phrase[0] for phrase in _PHRASES)


def is_small_talk(query: str) -> bool:
    """Whether a query is only small talk, or has no words at all."""
    if len(query) > _MOST_CHARACTERS:
        return False
    text = unicodedata.normalize("NFKC", query)
    if _UNSPACED_TEXT.search(text):
        return "".join(_WORD.findall(text)) in _WHOLE
    original = _WORD.findall(text.translate(_APOSTROPHES))
    return len(original) <= _MOST_WORDS and _consists_of_phrases(original)


def _consists_of_phrases(original: list[str]) -> bool:
    words = [word.casefold() for word in original]
    at = 0
    may_name = False
    while at < len(words):
        length = _phrase_at(words, at)
        if not length and not (may_name and original[at][0].isupper()):
            return False
        may_name = bool(length) and tuple(words[at : at + length]) in _MAY_ADDRESS
        at += length or 1
    return True


def _phrase_at(words: list[str], at: int) -> int:
    """The number of words of the longest phrase that begins here."""
    if words[at] not in _FIRST_WORDS:
        return 0
    longest = min(_LONGEST_PHRASE, len(words) - at)
    return next((size for size in range(longest, 0, -1) if tuple(words[at : at + size]) in _PHRASES), 0)

"""Phrases of small talk, and the words that may stand between them.

A query is small talk if it consists of these phrases, and of words that may stand between them, and nothing else. A capitalised
word that is not in the tables may follow a greeting or thanks: "Hi Melanie!". A question consists of whole phrases, or asks the
assistant how it is ("How is life treating you?", "Do you ever get tired?"): "What was your great suggestion?" asks for something,
though each of its words may be said in small talk.
"""

_LONGEST_PHRASE = 6
ADDRESSING = """
hello; hi; hey; hello there; hi there; hey there; hiya; howdy; yo; greetings; good morning; good afternoon; good evening;
good day; morning; good night; goodnight; bye; goodbye; bye bye; see you; see ya; welcome back; thanks; thank you; thx; ty;
cheers; sorry; hallo; guten morgen; guten tag; guten abend; gute nacht; moin; servus; danke; vielen dank; tschüss;
auf wiedersehen; hola; buenos dias; buenos días; buenas tardes; buenas noches; gracias; muchas gracias; adios; adiós; bonjour;
bonsoir; salut; merci; merci beaucoup; au revoir; ciao; buongiorno; buonasera; grazie; grazie mille; ola; olá; bom dia;
boa tarde; boa noite; obrigado; obrigada; hoi; goedemorgen; dank je; dank je wel; bedankt; heya; ahoy; thankyou; tysm;
wassup; toodles; tschau; dankeschön; gleichfalls; gute nacht; saludos; buenas; coucou; rebonjour; salve; buonanotte; arrivederci;
prego; oi; tchau; adeus; valeu; dankjewel; doei; welterusten; goedenavond; goedemiddag; graag gedaan
"""
OTHERS = """
how are you; how are you doing; how are you feeling; how are things; how is it going; hows it going; how do you do;
how have you been; hows your day; how is your day; hows your day going; how was your day; whats up; what is up; sup;
whats new; what is new; nice to meet you; pleased to meet you; good to see you; nice to see you; long time no see; and you;
what about you; how about you; im fine; i am fine; im good; i am good; im well; im ok; im okay; im great; doing well;
doing fine; not bad; very well; so much; very much; a lot; a bunch; a million; in advance; that helps; that helped; it helps;
this helps; that helps a lot; that was helpful; very helpful; for your help; for the help; for that; for helping;
i appreciate it; i appreciate that; appreciated; much appreciated; you are welcome; youre welcome; no problem; no worries;
not at all; my pleasure; dont mention it; any time; anytime; yep; yeah; yup; yes please; nope; nah; no thanks; no thank you;
sure; of course; certainly; absolutely; definitely; exactly; indeed; thats right; thats correct; thats true; agreed; i agree;
maybe; perhaps; i guess; i think so; i see; oh i see; i understand; understood; i got it; got it; gotcha; makes sense;
that makes sense; noted; will do; ok; okay; k; alright; all right; fine by me; sounds good; sounds great; sounds good to me;
looks good; perfect; awesome; amazing; wonderful; excellent; fantastic; brilliant; lovely; super; wow; oh; ah; hmm; hm; mm;
um; uh; haha; hahaha; lol; lmao; rofl; hehe; thats funny; funny; very funny; thats great; thats good; thats nice; thats cool;
thats awesome; thats amazing; thats interesting; interesting; how nice; how interesting; good job; great job; nice job;
well done; good work; nice work; nice one; good one; happy to hear that; glad to hear that; glad to hear it; good to hear;
good to know; good for you; congratulations; congrats; im sorry; my bad; oops; excuse me; pardon; sorry about that;
never mind; nevermind; forget it; no matter; it doesnt matter; let me think; let me see; one moment; one moment please;
one second; just a moment; just a second; hold on; wait a moment; wait a minute; brb; be right back; im back; go on;
go ahead; continue; please continue; carry on; proceed; keep going; tell me more; thats all; thats it; nothing else;
that is all; just testing; this is a test; ping; are you there; are you still there; can you hear me; do you hear me;
is anyone there; anybody there; who are you; what are you; what is your name; whats your name; are you a robot;
are you a bot; are you an ai; are you human; are you real; what can you do; how can you help; how can you help me;
what do you do; can you help; can you help me; could you help me; please help; i need help; i have a question;
can i ask you something; can i ask you a question; can i ask a question; may i ask a question; tell me a joke;
tell me something; tell me something funny; make me laugh; sing me a song; see you later; see you soon; see you tomorrow;
see you then; see you next week; talk to you later; talk to you soon; talk later; talk soon; take care; have a nice day;
have a good day; have a great day; have a good one; have a nice weekend; have a good weekend; have a great weekend;
have a nice evening; have a good evening; have a good night; have a lovely day; enjoy your day; enjoy your weekend;
sleep well; sweet dreams; good luck; same to you; you too; you as well; likewise; and yourself; wie geht es dir; wie gehts;
wie geht es ihnen; alles klar; sehr gut; ja; nein; bitte; gern geschehen; bis bald; bis morgen; bis später; genau; schön;
schönen tag; schönen tag noch; schönes wochenende; como estas; cómo estás; que tal; qué tal; todo bien; muy bien; bien; vale;
si; sí; por favor; de nada; hasta luego; hasta pronto; hasta manana; hasta mañana; buen dia; buen día; comment ca va;
comment ça va; ca va; ça va; comment allez vous; tres bien; très bien; d accord; oui; non; s il vous plait; s il vous plaît;
de rien; a bientot; à bientôt; a demain; à demain; bonne journée; bonne nuit; bonne soirée; come stai; come va; tutto bene;
va bene; prego; per favore; a presto; arrivederci; buona notte; buona giornata; tudo bem; como vai; por nada; ate logo;
até logo; hoe gaat het; tot ziens; alsjeblieft; graag gedaan; goed; happy birthday; merry christmas; happy christmas;
happy new year; happy holidays; happy easter; happy halloween; hope you are well; hope youre well; hope you are doing well;
hope youre doing well; hope all is well; how is everything; hows everything; how are things going; whats going on;
what is going on; whats happening; how was your weekend; how was your evening; how was your night; how is your morning;
hows life; how is life; hows your week; good point; fair enough; fair point; you are the best; youre the best; youre awesome;
you are awesome; youre amazing; you are amazing; youre great; you are great; you rock; love it; i love it; i like it;
like it; love that; omg; oh my god; oh my; oh no; oh dear; oh well; oh okay; yay; hooray; whoa; phew; ugh; meh; no way;
seriously; is that so; hilarious; thats hilarious; too bad; thats too bad; thats sad; thats ok; thats okay; thats fine;
thats fair; thats wonderful; thats perfect; thats helpful; thats lovely; thats fantastic; thats sweet; thats kind;
thats very kind; sounds like a plan; sounds perfect; sounds fun; sounds lovely; sounds interesting; sounds fine;
sounds wonderful; sounds amazing; lets do it; lets do that; lets do this; lets go; lets continue; lets start; lets begin;
lets get started; lets see; lets talk; lets chat; can we talk; can we chat; shall we; shall we start; im ready;
are you ready; i dont know; dont know; not sure; im not sure; no idea; i have no idea; bless you; take it easy;
until next time; till next time; speak soon; catch you later; ttyl; gn; gm; np; yw; idk; tbh; imo; many thanks;
thanks so much; thank you kindly; i owe you one; how kind; that is kind of you; nice talking to you; nice chatting with you;
nice talking with you; good talk; good chat; it was nice talking to you; good to hear from you; nice to hear from you;
im glad; glad i could help; glad you like it; good to see you again; just saying hi; just wanted to say hi;
just saying hello; just checking in; checking in; are you busy; are you awake; do you have a minute; do you have a moment;
got a minute; got a second; what a day; tgif; i love you; i like you; i miss you; do you like me; do you love me;
how old are you; where are you from; where are you; do you sleep; do you dream; do you eat; do you have feelings;
are you alive; are you sentient; are you conscious; are you listening; are you online; are you happy; are you okay;
are you ok; are you sure; who made you; who created you; who built you; what are you doing; what are you up to;
whatre you up to; how do you feel; how are you today; nice weather; lovely weather; beautiful weather; nice weather today;
lovely day; beautiful day; nice day; what a beautiful day; what a nice day; what a lovely day; im bored; i am bored;
entertain me; surprise me; talk to me; lets have a chat; say something; say hi; say hello; wish me luck; cheer me up;
give me a hug; congrats to you; good to hear that; nice to hear that; im happy to hear that; im sorry to hear that;
sorry to hear that; that sucks; what a pity; what a shame; what a relief; how lovely; how sweet; how cool; how wonderful;
how exciting; exciting; so cool; so nice; so sweet; so funny; so true; very nice; very good; very cool; very interesting;
not really; not yet; not now; not today; maybe later; of course not; sure thing; you bet; you got it; on it; roger;
roger that; copy that; affirmative; okay then; ok then; alright then; alrighty; okie; okey dokey; righto; good enough;
good to go; all set; all done; im done; thats enough; repeat that; say that again; come again; pardon me; sorry what;
what do you mean; i mean; go for it; keep it up; keep up the good work; well said; nicely done; good thinking; great idea;
good idea; great work; great stuff; good stuff; nice try; bravo; kudos; hats off; my apologies; apologies; forgive me;
i apologize; i apologise; no need; no need to apologize; no hurry; no rush; take your time; im waiting; still waiting;
im here; here i am; back again; hello again; hi again; long time; i appreciate your help; helpful; much obliged;
sorry for the late reply; sorry for the delay; im doing great; im doing well; im doing good; im doing fine; i am doing well;
doing great; have a wonderful day; have a wonderful weekend; have a wonderful evening; pleasure meeting you;
pleasure to meet you; its a pleasure; not much; nothing much; same here; whats good; sweet; its nice to meet you;
great to meet you; great to see you; how may i help you; how can i help you; how goes it; hows things; you alright;
hope you had a good weekend; enjoy your evening; enjoy your meal; cheers mate; see you around; peace; peace out; cya;
good riddance; sleep tight; good luck with that; gotta run; gotta go; have to go; i have to go; i have to run; got to go;
afk; omw; gg; me again; its me; its me again; happy monday; happy friday; happy weekend; season greetings; seasons greetings;
who trained you; who programmed you; who is your creator; say something funny; say something nice; tell me something nice;
tell me another joke; another joke please; tell me a story; thats all for now; thats all for today; that will be all;
no more questions; i have no more questions; just a sec; hang on; give me a second; give me a moment; give me a minute
"""
# Phrases that are small talk by themselves, or beside others, but not with words of other kinds.
_WEAK = """
today; again; everyone; everybody; all; friend; buddy; my friend; dear; there; then; now; too; as well; tomorrow; later; next;
nothing; testing; true; right; correct; fine; welcome; well; so; wait; done; morning; all good; same; good; nice; cool; great;
no; yes; please; next week; sometime; soon; what; huh; eh; is it; enough; ready; whatever; anyway; ahead
"""
# Words that may stand between phrases.
_FILLERS = """
a; an; the; that; thats; this; it; its; is; was; are; be; am; im; i; you; your; youre; me; my; we; us; to; of; for; and; or;
but; very; really; so; such; quite; pretty; just; still; here; with; in; on; at; oh; ah; hey; will; would; can; must; have; has;
been; as; too; also; info; information; update; explanation; answer; answers; reply; advice; tip; tips; reminder; feedback;
support; time; patience; suggestion; suggestions; kindly; man; guys; folks; sir; madam; team; mate; bro; dude; one; day; lot;
bit; indeed; always; ever; truly; totally; much; more; then
"""
# Words that may follow the phrases of a question.
_AFTER_QUESTIONS = """
today; tonight; again; everyone; everybody; all; friend; buddy; my friend; dear; there; then; now; too; as well; please; and;
so; oh; hey; well; man; guys; folks; sir; madam; mate; bro; dude; this morning; this evening; this afternoon; here; over there;
my dear; pal; you; yourself
"""
# The words of remarks about the assistant, the conversation or the day.
_REMARK_WORDS = """
a an absolutely adorable afk afternoon again agreed all alright always amazing and anyway appreciate appreciated are asking
at aw awesome awful aww back bad be been best bet better big bit boring bravo brilliant bro buddy bunch but bye can cant
care catch chat chatting cheers ciao clear clever complain cool course cute day days dear did do doing done dont down dude
enjoy enough evening ever everybody everyone excellent exciting fabulous fair fantastic far fast fine folks for forget
forward friday fun funny gee genius gentle get getting gg glad go goin going gone gonna good goodness gorgeous gosh got
gotcha gotta great guess guys had haha happy have having hear hello help helped helpful helps hey hi hilarious hm hmm hold
holiday holidays hope how huge i ill im impressed impressive in incredible indeed interesting is it its ive joking just keep
kidding kind kindness know kudos later laugh let lets lifesaver like likewise listening lol long look looking lot lots love
loved lovely mad man many mate me mean meet meeting merry million mind minute moment monday morning most much my nah neat
need never new next nice night no nope not nothing now obliged of off oh ok okay omw on one only oops ouch out outstanding
own pal patience perfect phew please pleased pleasure precious pretty problem proud pun pure quick quickly quite really
right rock said same sarcastic saturday saying sec second see seeing seriously shame short smart so some something soon
sorry sounds speak spot still stuff such sunday super supportive sure sweet ta take talk talking talks terrific thank thanks
that thatll thats the then there these think thinking this though thought thoughtful thursday thx til till time times to
today together told tomorrow tonight too totally touching true truly tuesday ugh understand understood until useful very
wait wanna want was wasnt way we wednesday week weekend welcome well went were what whatever whats whoa will wise wish
wishes with wonderful wont worries worry would wow ya yay yeah year yep yes you youll your youre yours yourself youve yup
"""
# Words of which a remark has at least one.
_REMARKS = """
agreed alright amazing appreciate appreciated aw awesome aww bad bravo brilliant bye catch chat chatting cheers clever
complain cool course cute enjoy excellent fair fantastic fine funny gg glad good goodbye gotcha gotta great haha happy hello
hey hi hilarious hold impressed impressive incredible indeed kidding kind kudos later lifesaver likewise lol love lovely merry
nice night obliged ok okay oops outstanding perfect phew pleasure proud sec smart sorry super sure sweet ta talk talking thank
thanks thoughtful thx ugh welcome well whoa wise wonderful worries wow ya yay yeah yep yes yup
"""
# The words of questions to the assistant about itself, and of questions how it is.
_ABOUT_ASSISTANT = """
a ai alive all always an and angry anything asleep at awake awesome be been bored boring bot busy computer conscious cool cry
day did do doing done dream dreams eat emotions end ever everything fall far feel feeling feelings fine free fun funny get
getting going good got great had hanging happen happy has have having here holding hope how hows human hungry i in is it joke
jokes kind life listening live lonely long love machine mad me mood morning much my nice night now of off ok okay on or over
person program ready real really right robot sad sentient side sing sleep sleeping smart so still that the there thing things
think this tired to today tonight treating up was week weekend well were with work works you your yours yourself
"""
_ASKED_OF_ASSISTANT = frozenset(
    ("are", "do", "did", "were", "have", "hows", "how", "will", "would", "can", "dont", "arent")
)
_NOT_ABOUT_ASSISTANT = frozenset(("my", "i", "me", "work", "works", "program"))
UNSPACED = """
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


_MAY_ADDRESS = _phrases(ADDRESSING)
_STRONG = _MAY_ADDRESS | _phrases(OTHERS)
_PHRASES = _STRONG | _phrases(_WEAK) | _phrases(_FILLERS)
_IN_QUESTIONS = _STRONG | _phrases(_AFTER_QUESTIONS)
_ALONE = _phrases(_WEAK)
_FIRST_WORDS = frozenset(phrase[0] for phrase in _PHRASES | _IN_QUESTIONS)
_REMARK = frozenset(_REMARK_WORDS.split())
_REMARKING = frozenset(_REMARKS.split())
_OF_ASSISTANT = frozenset(_ABOUT_ASSISTANT.split())
_MOST_REMARKED = 9
_QUESTION_WORDS = frozenset(
    (
        *(
            "what",
            "whats",
            "who",
            "whos",
            "whose",
            "which",
            "when",
            "where",
            "wheres",
            "why",
            "how",
            "hows",
            "is",
            "are",
            "was",
        ),
        *("were", "do", "does", "did", "can", "could", "will", "would", "should", "may", "am"),
    )
)


def are_known_phrases(original: list[str], words: list[str], *, asks: bool) -> bool:
    """Whether words are phrases of the tables, or a remark. `words` are the original ones in lower case."""
    if asks or words[0] in _QUESTION_WORDS:
        return _consists_of_phrases(original, words, _IN_QUESTIONS) or _asks_how_assistant_is(words)
    return _consists_of_phrases(original, words, _PHRASES) or _remarks(words)


def _consists_of_phrases(original: list[str], words: list[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    """Whether all words belong to phrases, of which at least one is more than a filler."""
    at = 0
    may_name = is_talk = False
    while at < len(words):
        length = _phrase_at(words, at, phrases)
        if not length and not (may_name and original[at][0].isupper()):
            return tuple(words) in _ALONE
        phrase = tuple(words[at : at + length])
        may_name = phrase in _MAY_ADDRESS
        is_talk = is_talk or phrase in _STRONG
        at += length or 1
    return is_talk or tuple(words) in _ALONE


def _phrase_at(words: list[str], at: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """The number of words of the longest phrase that begins here."""
    if words[at] not in _FIRST_WORDS:
        return 0
    longest = min(_LONGEST_PHRASE, len(words) - at)
    return next((size for size in range(longest, 0, -1) if tuple(words[at : at + size]) in phrases), 0)


def _asks_how_assistant_is(words: list[str]) -> bool:
    """Whether a question asks the assistant about itself. One with "my" or "I" asks for something else."""
    return (
        words[0] in _ASKED_OF_ASSISTANT
        and (words[0] in ("how", "hows") or words[1:2] == ["you"])
        and len(words) <= _MOST_REMARKED
        and _NOT_ABOUT_ASSISTANT.isdisjoint(words)
        and _OF_ASSISTANT.issuperset(words[1:])
    )


def _remarks(words: list[str]) -> bool:
    """Whether a short text, which asks nothing, has nothing but words of remarks."""
    return 2 <= len(words) <= _MOST_REMARKED and not _REMARKING.isdisjoint(words) and _REMARK.issuperset(words)

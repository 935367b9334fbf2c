"""Sentences that say that an answer is not known: "I don't have that information.", "Das weiß ich leider nicht." (CTX-7).

A reply that consists of them tells nothing about the question. Which other words it may have is in `UNKNOWING_WORDS`: a reply with
any other word that the question does not have says something.
"""

from cloister.domain.patterns import IGNORECASE, VERBOSE, linear

_KNOWING = (
    "know|have|remember|recall|find|see|tell|say|provide|access|help|answer|assist|share|sure|aware|able|certain|seem|been|got|"
    "store|keep"
)
_TELLING = "told|mentioned|shared|said|provided|specified|given|recorded|stored|noted|discussed|talked|entered|saved"
_THINGS = (
    "idea|clue|information|info|records?|memory|memories|mention|details|data|access|notes?|entry|trace|way|knowledge"
)
UNKNOWING = linear(
    rf"""(?:
        \b(?:i|we)(?:['’]m|\s+am|['’]ve|\s+have|\s+do|\s+can|\s+could|\s+did|\s+was|\s+were)?(?:n['’]t|\s+not|not|['’]t)
        \s+(?:\w{{2,12}}ly\s+|yet\s+|actually\s+)?(?:{_KNOWING}|{_TELLING})\b
      | \b(?:i|we)(?:['’]m|\s+am|\s+was)\s+unable\b | \b(?:i|we)(?:\s+have|['’]ve)?\s+(?:got\s+)?(?:no|never|zero)\b
      | \bno\s+(?:{_THINGS})\b | (?:\bnot|\bnever|n['’]t)\s+(?:yet\s+)?been\s+(?:{_TELLING})\b
      | \byou\s+(?:haven['’]t|didn['’]t|have\s+not|did\s+not|never|have\s+never)\s+(?:yet\s+)?
        (?:{_TELLING}|tell|mention|share|say|provide|specify)\b
      | \bich\b.{{0,40}}\b(?:nicht|keine?n?|keinerlei)\b
      | \b(?:keine|keinerlei)\s+(?:ahnung|informationen?|angaben?|daten|details)\b
      | \bno\s+(?:lo\s+|la\s+|me\s+|te\s+)?(?:sé|tengo|recuerdo|puedo|conozco|encuentro|dispongo|acuerdo)\b
      | \bno\s+(?:hay|has)\s+(?:información|datos|mencionado|dicho|compartido)\b
      | \bje\s+(?:ne|n['’]).{{0,40}}\bpas\b | \baucune\s+(?:idée|information|donnée)\b
      | \bnon\s+(?:lo\s+|la\s+|mi\s+|ne\s+)?(?:so|ho|posso|ricordo|trovo|conosco|dispongo)\b | \bnessuna\s+(?:idea|informazione)\b
      | \bnão\s+(?:o\s+|a\s+|me\s+)?(?:sei|tenho|posso|lembro|conheço|encontro|encontrei|consigo)\b
      | \b(?:ik\b.{{0,40}}|weet\s+ik\s+(?:helaas\s+)?)\b(?:niet|geen)\b | \bgeen\s+(?:idee|informatie|gegevens)\b
      | \bне\s+(?:знаю|помню|могу|располагаю|имею|известно|нашел|нашла|нашёл)\b | \bнет\s+(?:информации|данных|сведений)\b
      | (?:我|这边|目前|暂时|抱歉|对不起|，)(?:还|也|暂时|并|现在)?(?:不知道|不清楚|不记得|不确定|不了解|无法|没有|未能)
      | 没有(?:相关|这方面|任何|找到|提到|告诉|关于|您的|你的) | 没有.{{0,12}}(?:信息|记录|资料|记忆)
      | (?:わかりません|分かりません|知りません|覚えていません|存じません|わからない|分からない|知らない|不明です|お答えできません)
      | (?:情報|記録|データ|記憶)(?:は|が|も)?(?:ありません|ございません|ないです)
    )""",
    IGNORECASE | VERBOSE,
)
"""Searched for in a sentence."""
KNOWS_NOT = linear(
    r"\b(?:don['’]t|do\s+not)\s+know\b|\bno\s+(?:lo\s+)?sé\b|\bne\s+(?:le\s+)?sais\b|\bnon\s+(?:lo\s+)?so\b|\bnão\s+sei\b|\bweet\b|"
    r"\bне\s+знаю\b|\bweiß\b",
    IGNORECASE,
)
"""Searched for in a reply of which every word is a function word or one of the question."""
KNOWS_NOT_WORDS = frozenset(
    [
        "know",
        "knows",
        "known",
        "sé",
        "sabe",
        "sabes",
        "sais",
        "sait",
        "so",
        "sa",
        "sei",
        "sabe",
        "weet",
        "weten",
        "знаю",
        "знает",
        "weiß",
        "weiss",
        "wissen",
    ]
)
"""Words of knowing: a question that has one is answered by who does not know."""
OFFERS = linear(
    r"""\A\s{0,8}(?:(?:please|if|once|when|let\s+me|feel\s+free|you\s+can|you\s+could|you\s+may|would\s+you|could\s+you|can\s+you|just|maybe|perhaps
        |bitte|wenn|falls|sobald|sag|gerne|möchtest|kannst|könntest|por\s+favor|si|puedes|podrías|s['’]il|veuillez|peux|pouvez|pourriez
        |per\s+favore|se|puoi|potresti|pode|poderia|als|kun|zou|laat|пожалуйста|если|можете)\b
        |请|請|如果|能|可以|麻烦|教えて|もし|よろしければ|お知らせ)""",
    IGNORECASE | VERBOSE,
)
"""Matches a sentence that asks for what is not known, or offers help."""

_WORDS = """
know known sure sorry apologize apologise apologies idea clue unfortunately afraid information info remember recall find found
see seen access tell told provide provided mention mentioned share shared answer help helpful assist assistance context detail
details specific specify specified memory memories record recorded records conversation conversations chat history past
earlier previous previously session sessions personal private currently available unable able let language model ai assistant
store stored save saved keep note noted notes look looking check checked question ask asked happy glad feel free future next
time aware certain clarify rephrase repeat data yet far moment trace entry entries message messages user users privacy
security reason reasons directly exactly right now

leider weiß weiss wissen kenne kann mir tut leid information informationen angaben daten ahnung darüber dazu bisher gespräch
gesprächen verlauf gespeichert finde gefunden erwähnt genannt mitgeteilt teilen sagen helfen gerne weiterhelfen zugriff
erinnere erinnern notiert entschuldigung falls möchtest

sé siento lo lamentablemente desgraciadamente información datos recuerdo acceso mencionado dicho conversación conversaciones
ayudar ayudarte puedo decirme compartir proporcionar encuentro idea gusto

sais désolé désolée malheureusement information informations données accès souviens conversation conversations aider mentionné
indiqué partager trouver trouve idée dire communiqué

so dispiace purtroppo informazioni informazione dati accesso ricordo conversazione conversazioni aiutare menzionato
condividere trovare idea

sei desculpe lamento infelizmente informação informações dados acesso lembro conversa conversas ajudar mencionado compartilhar
encontrar

weet sorry helaas informatie gegevens toegang herinner gesprek gesprekken helpen genoemd delen vinden idee

знаю жаль сожалению извините простите информации данных сведений помню доступа разговора разговоре помочь упоминали сказать
найти
"""
UNKNOWING_WORDS = frozenset(_WORDS.split())
"""Words of such replies, in all languages."""
_UNSPACED_PHRASES = """
抱歉 对不起 不好意思 很遗憾 遗憾 目前 暂时 暂且 我 你 您 们 不知道 不清楚 不记得 没有 无法 不确定 未能 不了解 这个 那个 这 那
相关 有关 关于 信息 资料 记录 记忆 记得 内容 回答 查询 查到 找到 提供 提到 提过 告诉 告知 说过 之前 对话 聊天 问题 帮助 帮忙
帮 请 如果 能 可以 吗 的话 的 了 过 在 中 里 有 是 就 也 都 还 给 和 把 呢 吧 啊 哦 关 于 任何 什么 再 次 一下 会 想 要 对 不
没 到 什 么 此 该 其 以 为 从 上 下 申し訳ありません 申し訳ございません すみません ごめんなさい 残念ながら その あの それ これ
については について 情報 記録 記憶 会話 質問 お答え 答え わかりません 分かりません 知りません 覚えていません 存じません
ありません できません わからない 分からない 知らない 不明です 教えて ください いただけますか くださいますか いただければ
お手伝い もし よろしければ 今 現在 まだ 私 あなた 何 も は が を に へ と で の ね よ か ん し た て い ま す せ り な ら あ
き る れ こ そ お ご
"""
_UNSPACED = tuple(sorted(set(_UNSPACED_PHRASES.split()), key=len, reverse=True))


def says_only_unknowing(sentence: str, asked: str) -> bool:
    """Whether a sentence in Chinese or Japanese has nothing but such phrases and characters of the question."""
    for phrase in _UNSPACED:
        sentence = sentence.replace(phrase, "")
    return not any(character.isalnum() and character not in asked for character in sentence)

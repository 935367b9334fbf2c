"""Words that say that something is asked for, and in which form, but not what: "tell me", "an overview of", "do you remember".

A message about the subject does not have them, so they do not count against it; and a message that has nothing but them and
the words of a question asks the same. In the languages of `index/terms/languages.py`, in lower case and inflected.
"""

_ENGLISH = """
ask asked asking asks answer answers know knows knew known knowing remember remembers remembered remembering recall recalls
recalled remind reminds reminded reminding reminder tell tells told telling show shows showed shown showing list lists listed
listing summarize summarise summarizes summarises summary summaries overview recap outline gist describe describes description
explain explains explanation detail details detailed information info infos everything anything something wonder wondering
wondered forget forgets forgot forgotten need needs want wants wanted like please help find look looking search lookup check
question questions curious idea ideas chance possible possibly maybe perhaps kindly quickly briefly brief short quick mention
mentioned mentions say said says discuss discussed talk talked talking again exactly actually currently hello hey hi thanks
thank sorry able repeat happen wish mind send provide give gives giving whats wheres whos whens hows whys whered whod
"""
_ORDER = """
first last earliest latest next previous previously order sequence chronological chronologically timeline beginning initially
finally earlier later
"""
_OTHERS = """
weiss weiß weißt weisst wissen kennst kennen erinnerst erinnern erinnere erinner nenne nenn nennen zeig zeige zeigen erzähl
erzähle erzählen erkläre erklär erklären beschreibe beschreib beschreiben liste auflisten übersicht überblick zusammenfassung
zusammenfassen fasse fass details angaben information informationen info infos frage fragen wissen vergessen brauche brauchst
suche suchen lautet heißt nochmal nochmals genau reihenfolge zuerst zuletzt

sabes sabe saber recuerdas recuerda recordar recuérdame dime dígame decirme cuéntame contarme muéstrame mostrar explica
explícame describe resumen resume resúmeme lista información detalles pregunta olvidé olvidado necesito busco buscar

sais savez savoir rappelles rappelle rappelez rappeler souviens souvient souvenir dis-moi dites donne donnez montre montrez
explique expliquez décris résumé résume liste informations information détails question oublié besoin cherche chercher

sai sapere ricordi ricorda ricordare ricordami dimmi dirmi mostrami spiegami descrivi riassunto riassumi elenco elenca
informazioni informazione dettagli domanda dimenticato bisogno cerco cercare

sabes sabe lembra lembras lembrar diga diz dizer mostra mostre explica explique descreve descreva resumo resuma lista
informação informações detalhes pergunta esqueci preciso procuro procurar

weet weten herinner herinnert herinneren vertel vertellen zeg toon laat leg uitleggen beschrijf samenvatting overzicht lijst
informatie details vraag vergeten nodig zoek zoeken

знаешь знаете знать помнишь помните помнить напомни напомните скажи скажите расскажи расскажите покажи покажите объясни
объясните опиши опишите список обзор информация информации информацию вопрос забыл забыла нужен нужна нужно ищу
какой какая какое какие каков какова сколько
"""
REQUEST_WORDS = frozenset((_ENGLISH + _ORDER + _OTHERS).split())
"""Words of requests in all languages."""
_ATTRIBUTES = """
name names called number numbers time date day address place location spot word exact current correct right got get
name nummer uhrzeit datum tag adresse nombre número hora fecha día nom numéro heure date jour nome numero ora data
"""
ATTRIBUTE_WORDS = frozenset(_ATTRIBUTES.split())
"""Words for what may be asked of a thing without another word for it: "Who is my dentist?" asks for the dentist's name."""
UNSPACED_REQUESTS = (
    *(
        "请问",
        "请",
        "告诉我",
        "告诉",
        "知道",
        "还记得",
        "记得",
        "想知道",
        "提醒",
        "一下",
        "再说",
        "再次",
        "忘了",
        "需要",
    ),
    *("教えて", "覚えて", "知って", "思い出", "忘れ", "お願い", "ください", "下さい", "もう一度"),
)
"""Phrases of requests in scripts without spaces."""

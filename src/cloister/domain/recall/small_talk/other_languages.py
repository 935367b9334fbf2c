"""How small talk is built in German, Spanish, French, Italian, Portuguese and Dutch, in the notation of `grammar.py`.

Without accents, which are taken out of what is read as well.
"""

GERMAN = """
WEN = zusammen|alle|leute|ihr lieben|ihr|du|freunde|lieber|liebe|mein (freund|lieber|schatz)|meine (freundin|liebe)|leute
  |nochmal|wieder
SEHR = sehr|so|echt|wirklich|total|richtig|ganz|super|voll|unglaublich|ziemlich|einfach|wahnsinnig|mega|absolut|besonders
  |auch|ja|aber|doch|schon|immer
GUT = gut|toll|super|prima|klasse|schon|nett|lieb|hilfreich|lustig|witzig|spannend|interessant|grossartig|wunderbar
  |perfekt|genial|cool|schnell|freundlich|schlau|klug|suss|traurig|schade|bestens|fantastisch|herrlich|ausgezeichnet
  |hervorragend|stark|krass|geil|aufmerksam|okay|ok
GUTE = gute|guten|gutes|guter|schone|schones|schonen|schoner|tolle|tolles|tollen|nette|netten|super|angenehme|angenehmen
  |ruhige|erholsame|wunderschonen|wunderschones|wundervollen|angenehmes|entspannten|entspanntes|erfolgreiche|erfolgreichen
  |frohe|frohes|frohliche|liebe|lieben|restlichen
TAG = tag|morgen|abend|nacht|woche|wochenende|mittag|nachmittag|vormittag|feierabend|sonntag|samstag|montag|dienstag
  |mittwoch|donnerstag|freitag|urlaub|ferien|weihnachten|ostern|feiertage|neues jahr|fest|rutsch|reise|start [in (den tag
  |die woche)]|tag noch|zeit|traume
WANN = heute|gerade|jetzt|denn|so|noch|schon|wieder|eigentlich|nochmal|nochmals|morgen|spater|bald|heute (morgen|abend
  |fruh)|in letzter zeit|zurzeit|diese woche|dann
DIR = dir|euch|ihnen|dich|sie|ihr|du
GRUSS = (hallo|hi|hey|hallochen|huhu|moin|servus|tach|grussgott|gruss gott|gruss dich|na|guten (morgen|tag|abend|mittag)
  |gute nacht|gutn abend|moin moin|mahlzeit|willkommen|hallo hallo|schonen guten (tag|morgen|abend)|guten) [NAME|WEN|du]
  [NAME|WEN|NAME]|[SEHR] schon dich (wiederzusehen|zu sehen|kennenzulernen)|lange nicht gesehen|(frohe|frohliche|schone)
  (weihnachten|ostern|feiertage)|alles gute [zum geburtstag]|frohes neues [jahr]|herzlichen gluckwunsch [zum geburtstag]
  |gratuliere|gluckwunsch
WIE = [na|und] wie (geht|gehts|geht es|lauft|lauft es|laufts|lief|war|ist) [es] [DIR|bei DIR|dein TAG|dein WANN TAG|der
  TAG|euer TAG|das wochenende|deine (nacht|woche)|alles] [so] [WANN] [DIR|bei DIR] [so] [WANN]|[na|ist|und] alles (gut
  |klar|ok|okay|in ordnung|fit|paletti|roger) [bei (DIR)] [WANN]|was (gibts|gibt es|geht|machst du|macht ihr|treibst du)
  [neues] [WANN] [bei DIR] [so] [ab]|(hast|habt) (du|ihr) [SEHR] (gut|schon gut) geschlafen|(bist|seid) (du|ihr) [noch
  |schon|auch] (da|wach|mude|bereit|glucklich|ein (mensch|roboter|bot))|und (DIR|selbst|bei DIR|wie geht es DIR)|hattest
  du [einen|ein] [GUTE] TAG|was machst du [WANN] [so]|wie (fuhlst|heisst) du [dich]|hast du [schon|heute] [gut] (gegessen
  |gefruhstuckt|geschlafen|kaffee getrunken)|wer bist du
DANK = [ich] [SEHR|vielen|besten|herzlichen|tausend|lieben|schonen|1000|haben sie|ganz|recht|ein|nochmals|und] (dank|danke
  |dankeschon|danke schon|danke sehr|merci|vielen dank|dank dir|danke dir|danke ihnen|danke euch|bedanke mich|dankend)
  [schon|sehr|DIR|vielmals|nochmal|nochmals|auch|tausendmal|gleichfalls|ebenfalls|im voraus|wirklich|so sehr] [fur] [(die
  |deine|eure|ihre|den|das|dein|alles|all deine|diese) [GUTE|schnelle|nette|lieben|tolle] [hilfe|antwort|tipps|tipp|info
  |infos|zeit|geduld|muhe|rat|unterstutzung|auskunft|erklarung|gesprach|nachfrage|rat|ratschlage|vorschlage|worte|idee
  |ideen]|nachfragen|zuhoren|alles] [DIR|WEN|WANN]|(das|es|du|sie|damit|dies) (hat|haben|hast) [mir|uns] [jetzt|wirklich
  |SEHR] [SEHR|sehr|viel|weiter|gut|enorm] (geholfen|weitergeholfen|geklappt|gefreut|gut getan|funktioniert|gefallen
  |genutzt)|(das|es) (hilft|freut|nutzt|gefallt|reicht) [mir|mich] [SEHR|weiter|viel] [WANN]|ich (bin|ware) [dir] [SEHR]
  dankbar|(das|es) weiss ich [SEHR] zu schatzen
LOB = (du|sie|ihr|das|es|dies|wie|was) [bist|sind|ist|war|seid|hast|klingt] [SEHR] [GUT|GUTE|der beste|die beste|ein
  (schatz|engel|genie|held|star)|eine (grosse hilfe|wucht)|spitze|recht] [von DIR|gemacht|zu (horen|wissen)|geworden]|(gut
  |super|toll|prima|klasse|schon) gemacht|gut zu wissen|ich (mag|liebe|vermisse) dich|[SEHR] (GUT|lustig)|(gute|tolle
  |super|prima|nette|schone|coole) (idee|arbeit|antwort|frage|sache|leistung|nachrichten|neuigkeiten)|wie (GUT|lieb
  |schade)|haha das ist (lustig|witzig)
JA = ja|nein|jep|jo|nee|ne|genau|stimmt|richtig|klar|na klar|naturlich|sicher|gerne|sehr gerne|okay|ok|passt [so]|verstehe
  |verstanden|ich verstehe|[ja|nein] das (stimmt|war alles|wars|ist alles|passt|reicht|ist richtig) [fur heute|schon|WANN]
  |in ordnung|alles klar|geht klar|(mach|mache) ich|wird gemacht|kein (problem|ding)|(keine|mach dir keine) (ursache|sorge
  |sorgen|eile)|macht nichts|gern geschehen|bitte [schon|sehr]|nichts zu danken|ach so|aha|achso|egal|schon gut|weiss
  nicht|ich weiss [es] nicht|keine ahnung|na gut|also gut|von mir aus|das war ein (witz|scherz|spass)|nur (spass|ein
  scherz)|vielleicht|mal sehen|abgemacht|einverstanden|nicht schlecht
STIMMUNG = [mir|uns|ich|bei mir|es] (geht|gehts|bin|lauft) [es] [mir|uns|alles] [SEHR|heute|gerade|etwas|ein bisschen]
  [SEHR|auch] (GUT|mude|so lala|bestens|zufrieden|fit|glucklich|fertig|wieder da|zuruck|froh|gelangweilt) [WANN]|mir ist
  langweilig|(ich|mich) freue [mich] [SEHR|auch|fur dich|daruber]|freut mich [SEHR|auch|zu horen|dich kennenzulernen]
  |nicht so GUT|ganz gut|so lala|kann nicht klagen|muss ja
SORRY = [es] (tut|tuts) mir [SEHR] leid|[bitte] (entschuldige|entschuldigung|verzeihung|sorry|verzeih|entschuldigen sie)
  [bitte|die (storung|verspatung)|fur die (storung|verspatung)|vielmals]|mein fehler|war nicht so gemeint|vergiss es
  |schade|oh (je|nein|mann|gott)|ach (so|ja|nein|du meine gute)|echt|wirklich|im ernst|wow|krass|ehrlich
TSCHUSS = (tschuss|tschau|ciao|bye|ade|auf wiedersehen|auf wiederhoren|tschussi|servus|bis) [dann|bald|morgen|spater
  |gleich|nachher|nachste woche|zum nachsten mal|die tage|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag
  |heute abend|nachstes mal|demnachst|neulich|WEN|NAME] [und|mal] [NAME|WEN|NAME]|(machs|mach es) [SEHR] gut|pass auf dich
  auf|[ich] [wunsche|wunsch|hab|habt|haben sie|geniess|noch|und|dir|euch] [DIR] [noch] [einen|eine|ein|den|die|das] [SEHR]
  (GUTE) [restlichen|GUTE] TAG [noch] [NAME|WEN|DIR]|(schlaf|schlaft|schlafen sie|traum|erhol|komm) [SEHR|dich|schon] (gut
  |schon|suss) [heim|nach hause]|(susse|schone) traume|viel (spass|gluck|erfolg|vergnugen) [heute|noch|dir|DIR]|gute
  (besserung|reise|fahrt|heimreise)|(ich) (muss|geh|gehe|sollte) [jetzt|dann|mal|leider|WANN] [los|weg|ins bett|schlafen
  |weiter|gehen|off] [WANN]|ich bin dann mal weg|(viele|liebe|beste|herzliche) grusse|wir (sehen|horen|sprechen) uns
  [WANN]|gleichfalls|ebenso|(dir|ihnen|euch) auch [SEHR]|man sieht sich|bis dahin
UND = und|aber|ja|nein|also|oh|ach|haha|danke|bitte|gut|super|toll|na|dann|auch|so|noch|sehr|schon|okay|ok|prima|perfekt
  |wow|heute|denn|jetzt|doch|mal|gerne
DEUTSCH = GRUSS|WIE|DANK|LOB|JA|STIMMUNG|SORRY|TSCHUSS
"""
SPANISH = """
QUIEN = a todos|a todas|todos|amigo|amiga|amigos|chicos|gente|equipo|mi amigo|querido|querida|de nuevo|otra vez|guapo|tio
MUY = muy|tan|super|realmente|bastante|de verdad|mas|siempre|demasiado|totalmente|absolutamente|la verdad
BUENO = bien|bueno|buena|genial|amable|util|divertido|divertida|gracioso|interesante|increible|perfecto|perfecta|estupendo
  |excelente|maravilloso|maravillosa|fantastico|lindo|linda|bonito|rapido|listo|lista|inteligente|triste|feliz|contento
  |contenta|cansado|cansada|aburrido|aburrida|mejor|mal|regular|claro|simpatico|dulce|guay|majo
CUANDO = hoy|ahora|ultimamente|manana|luego|pronto|tambien|ya|entonces|esta (manana|noche|tarde|semana)|estos dias|de
  nuevo|otra vez|por ahora|por hoy|por aqui|por alla|mismo
SALUDO = (hola|buenas|buenos dias|buenas (tardes|noches)|buen dia|muy buenas|hey|ey|saludos|bienvenido|bienvenida|holi|alo
  |que onda|hola hola) [NAME|QUIEN|NAME] [CUANDO]|feliz (cumpleanos|navidad|ano nuevo|fin de semana|viernes|lunes|dia|ano)
  [NAME|QUIEN|a ti]|felices fiestas|cuanto tiempo [sin verte]|mucho gusto|encantado [de conocerte]|encantada [de
  conocerte]|(felicidades|felicitaciones|enhorabuena) [NAME|QUIEN|NAME]|un (gusto|placer) [conocerte|saludarte|hablar
  contigo]|que (alegria|gusto) verte
COMO = [y|oye] (como|que tal) [te|le|les|os] [estas|esta|estan|va|vas|van|ha ido|encuentras|sientes|amaneciste|has estado
  |andas|anda|fue|dormiste|te va|has dormido] [todo|tu dia|el dia|la vida|tu semana|tu fin de semana|usted|tu|las cosas|la
  manana|el fin de semana|todos] [CUANDO] [QUIEN]|que (hay|pasa|cuentas|haces|onda|hubo|mas|hay de nuevo|me cuentas|has
  hecho) [de nuevo] [CUANDO]|[todo|esta todo|estas|estais|y] (bien|en orden|tranquilo|ok|todo bien) [por (ahi|alli|alla)
  |contigo|CUANDO]|(y|que hay de) (tu|vos|usted|ti|ustedes)|has (dormido|comido|descansado) [BUENO] [ya|CUANDO]|(estas
  |sigues) ahi|dormiste bien|eres [un] (robot|humano|real|una maquina)|quien eres|como te llamas
GRACIA = [muchas|muchisimas|mil|un millon de|gracias|de nuevo|ok|vale|bueno] (gracias|se agradece|te lo agradezco|te
  agradezco|le agradezco|agradecido|agradecida|estoy MUY agradecido) [de (verdad|corazon|nuevo|antemano)|a ti|a usted|MUY
  |mucho|otra vez|igualmente|infinitas|totales] [por|tu|la|todo|toda] [todo|la|el|tu|su|los|tus|toda|toda tu|vuestra
  |ayudarme|escucharme|preguntar|responder|estar ahi|avisar|todo eso|lo] [ayuda|apoyo|tiempo|paciencia|respuesta
  |informacion|consejo|consejos|consejito|amabilidad|info|explicacion|atencion|charla|recomendacion|respuestas] [tan
  rapida] [NAME|QUIEN|CUANDO]|[eso|esto|lo|me] (me|ha|has|ayuda|sirve|sirvio|ayudo) [ha|has|sido] [ayudado|servido|ayuda
  |sirve] [MUY|mucho|bastante|un monton|de gran ayuda]|te [lo] debo [una]|no (se|tengo) como agradecerte
ELOGIO = [tu|usted|eso|esto|lo|que|me] [es|eres|fue|ha sido|esta|estuvo|suena|parece|sos] [MUY|un|una|el|la] [MUY] (BUENO
  |encanto|sol|genio|angel|amor|crack|mejor|maquina|heroe|tesoro|de gran ayuda) [de tu parte|oir eso|saberlo|idea|trabajo]
  |(buen|buena|gran|excelente|muy buen|muy buena) (trabajo|idea|respuesta|pregunta|consejo|noticia|chiste)|bien hecho|me
  alegro [mucho|de oirlo|por ti|de (verte|saberlo)]|(me) (encanta|gusta|hace gracia|encanto|haces reir|parece bien) [eso
  |esto|tu (idea|respuesta|ayuda)]|te (quiero|extrano|amo|echo de menos) [mucho]|que (BUENO|pena|lastima|risa|alegria
  |gracia|detalle|guay|susto|maravilla|rico|bonito)
SI = si|no|claro|vale|ok|okay|de acuerdo|entiendo|entendido|ya (veo|entiendo|esta|entendi)|perfecto|exacto|exactamente
  |correcto|asi es|por supuesto|desde luego|de nada|no hay de que|no (pasa nada|te preocupes|importa|problem|hay problema
  |lo se|tengo idea|estoy seguro)|sin problema|con (mucho) gusto|a la orden|listo|dale|venga|bueno|eso es todo [CUANDO]
  |nada mas|es todo [CUANDO]|(tienes|tiene) razon|esta bien|me parece [bien]|suena bien|ni idea|quizas|tal vez|puede ser
  |lo (hare|intentare|pensare|probare)|era broma|es broma|solo bromeaba|ja|jaja|jajaja|jejeje|perdon|perdona|disculpa
  |disculpe|lo siento [mucho]|mi error|en serio|de verdad|no me digas|vaya|ay|uy|dios mio|madre mia|por favor|igualmente
  |lo mismo digo|para eso estamos
ANIMO = [yo|pues|me] (estoy|ando|sigo|voy|todo|me siento|va todo) [MUY|un poco|algo] (BUENO|aqui|de vuelta|tranquilo|listo
  |emocionado) [CUANDO]|mas o menos|tirando|no me quejo|aqui (estoy|ando|andamos)|todo (bien|tranquilo|perfecto|en orden)
  |me aburro|he tenido un (buen|mal|largo) dia
ADIOS = (adios|chao|chau|bye|hasta|nos vemos|nos (leemos|hablamos)|te veo|hablamos) [la proxima|luego|manana|pronto|otro
  dia|el (lunes|martes|miercoles|jueves|viernes|sabado|domingo)|la vista|siempre|ahora|mas tarde|despues|otra|la semana
  que viene] [NAME|QUIEN|NAME]|(que|te deseo|le deseo|les deseo|ten|tenga|espero que|deseo que) [te|le|tengas|tenga|tengan
  |pases|pase|tengais|descanses|duermas|vaya|vayas|estes|disfrutes] [una|un|unas] [BUENO|buen|lindo|excelente|gran|feliz]
  [BUENO|dia|noche|tarde|semana|finde|fin de semana|viaje|suenos|resto del dia|descanso] [CUANDO|QUIEN|NAME]|(feliz|buen
  |buena) (dia|noche|tarde|semana|fin de semana|viaje|suerte|finde)|(cuidate|cuidese|cuidaos|descansa|suerte|animo|saludos
  |abrazos|un abrazo|besos|un beso|dulces suenos|felices suenos|duerme bien|buen provecho|salud|mejorate [pronto]
  |diviertete|buena suerte) [mucho|QUIEN|NAME]|(me|ya me|tengo que|debo) (voy|irme|dormir|ir|retiro|despido) [a dormir|ya
  |CUANDO]
Y = y|pero|ah|oh|ay|pues|bueno|ok|vale|si|no|gracias|hola|muy|bien|tambien|perfecto|genial|claro|hoy|entonces|jaja|jajaja
  |ya|por favor|oye
ESPANOL = SALUDO|COMO|GRACIA|ELOGIO|SI|ANIMO|ADIOS
"""
FRENCH = """
QUI = a tous|a toutes|tout le monde|mon ami|mon amie|les amis|toi|vous|tous|mes amis|mon cher|ma chere|madame|monsieur|les
  gars|l equipe|a toi|a vous|encore
TRES = tres|si|trop|vraiment|tellement|super|assez|plutot|bien|aussi|plus|toujours|tout a fait|absolument
BON = bon|bonne|bien|gentil|gentille|sympa|drole|genial|geniale|super|parfait|parfaite|excellent|interessant|utile|cool
  |formidable|fantastique|magnifique|chouette|rapide|triste|dommage|fatigue|fatiguee|content|contente|heureux|heureuse
  |mieux|merveilleux|adorable|incroyable|clair|impressionnant|aimable|intelligent|rigolo|marrant|top|beau|belle|mal
QUAND = aujourdhui|ce (matin|soir|midi)|cette (semaine|nuit)|demain|maintenant|deja|encore|alors|ces temps ci|ces jours ci
  |la|donc|en ce moment|plus tard|bientot|hier
SALUER = (bonjour|bonsoir|salut|coucou|hello|hey|bienvenue|rebonjour|re|bjr|allo|bonne nuit|enchante|enchantee|ravi de te
  (revoir|voir)|content de te (revoir|voir)) [NAME|QUI|NAME] [NAME|QUI|NAME] [de (te|vous) (voir|rencontrer|connaitre)]|
  (joyeux|bon) (noel|anniversaire|lundi|vendredi)|bonne annee|joyeuses fetes|(ca fait) longtemps|felicitations [a (toi
  |vous)]|bravo [a toi]
CA = [et|alors] (comment|ca) (ca va|ca se passe|vas tu|allez vous|va|vas|tu vas|vous allez|te sens tu|te portes tu|va ta
  journee|va la vie|va la famille|ca roule|ca s est passe) [QUAND] [QUI] [QUAND] [chez toi]|(ca|cava|tout|tu|vous) (va
  |roule|baigne|gaze|va bien|se passe bien|vas bien|allez bien|es la|a bien dormi|as bien dormi|as passe une (BON)
  (journee|nuit|soiree)|t appelles comment) [QUI|QUAND]|quoi de (neuf|beau) [QUAND]|que deviens tu|et (toi|vous|de ton
  cote|chez toi) [ca va|comment (ca va|vas tu)]|as tu (bien dormi|passe une bonne (nuit|journee)|mange)|tu as (bien dormi
  |mange|passe un bon week end)|bien dormi|(es|etes) (tu|vous) (la|un robot|humain|reel|fatigue)|qui es tu|tu fais quoi
  |que fais tu [de beau]
MERCIS = [un grand|mille|encore|grand|ok|oui|non|bien|tres bien] (merci|mercis|mrc|je (te|vous) remercie|je t en remercie)
  [beaucoup|infiniment|bien|mille fois|encore|TRES|a toi|a vous|a tous|d avance|davance|enormement|du fond du coeur] [pour
  |de|d] [tout|votre|ton|ta|tes|vos|l|le|la|les|cette|ces|avoir|m avoir|etre la|demander|ca|cela] [BON|precieuse|precieux]
  [aide|temps|patience|reponse|reponses|conseil|conseils|soutien|info|infos|explication|explications|gentillesse|aide
  precieuse|aide|repondu|aide|ecoute|laide|rapidite|suggestions] [TRES] [BON] [NAME|QUI|QUAND]|(ca|cela) (m a|ma|m aide
  |maide|me) [a] [TRES|beaucoup|bien|fait] (aide|beaucoup|plaisir|servi)|je (suis|vous suis|te suis) [TRES] reconnaissant|
  [c est|cest] TRES (gentil|aimable) [de (ta|votre) part|a (toi|vous)]
LOUER = (cest|c est|cetait|c etait|tu es|tes|t es|vous etes|ca a l air|quel|quelle|que|je suis|ca) [pas|TRES|un|une|le|la]
  [TRES] (BON|genie|ange|amour|tresor|meilleur|meilleure|as|champion|heros|chef|exactement ca|vrai|tout|note|bonne idee
  |bonne question|bonne nouvelle|plaisir) [de (ta|votre) part|pour (toi|vous|moi)|a savoir|QUAND|a entendre]|(bon|beau
  |bonne|excellente|super|tres bonne) (travail|boulot|idee|reponse|question|nouvelle|blague|point)|bien (joue|vu|dit|fait)
  |je (t adore|tadore|taime|t aime [bien])|tu me fais rire|tu m as fait rire|(ca me|cela me) (fait plaisir|plait|va
  |convient)|(j adore|jadore|jaime|j aime) [bien] [ca]
OUI = oui|non|si|ouais|daccord|d accord|ok|okay|bien sur|entendu|compris|je (vois|comprends|sais|pense|crois|ne sais pas
  |sais pas|plaisante|rigole|plaisantais)|jai compris|j ai compris|exactement|exact|tout a fait|voila|parfait|super|genial
  |pas (de (souci|probleme|quoi)|grave|mal|vraiment|du tout|encore|maintenant)|aucun (souci|probleme)|de rien|il n y a pas
  de quoi|avec plaisir|je (ten|t en|vous en) prie|je vous en prie|volontiers|ca marche|ca roule|cest (tout|bon|note) [pour
  (aujourdhui|linstant)]|rien d autre|peut etre|on verra|tant pis|tant mieux|pardon|desole|desolee|excuse moi|excusez moi
  |je suis (desole|desolee)|mon erreur|oups|cest pas grave|vraiment|serieux|sans blague|ah (bon|oui|non|dac)|oh (la la|non
  |oui)|oh|ah|mdr|haha|ptdr|bof|tiens|zut|mince|sil (te|vous) plait|pareillement|de meme|egalement|moi aussi|toi aussi
  |vous aussi|a vos souhaits|sante
ETAT = [moi] (je|jme|tout|ca|moi|on) (vais|suis|me sens|va) [TRES|un peu|pas] [TRES] (BON|creve|crevee|de retour|la|pret
  |prete|ravi|ravie) [QUAND|et (toi|vous)]|(comme ci comme ca|couci couca|on fait aller|pas trop mal|je m ennuie|ca peut
  aller|la routine)
PARTIR = (au revoir|adieu|ciao|bye|salut|a) [bientot|demain|plus tard|plus|tout a lheure|tout a l heure|la prochaine|lundi
  |mardi|mercredi|jeudi|vendredi|samedi|dimanche|ce soir|tres vite|tantot|tres bientot|la semaine prochaine|toute|tte]
  [NAME|QUI|NAME]|[je (te|vous) souhaite|passe|passez|et] [une|un] [TRES] (bonne|bon|belle|douce|excellente|agreable
  |excellent|beau) (journee|soiree|nuit|semaine|apres midi|week end|weekend|matinee|continuation|chance|vacances|route
  |voyage|appetit|courage|retablissement|fin de journee|reste de journee|fin de semaine|dimanche|samedi|sommeil) [NAME|QUI
  |QUAND]|(dors|dormez|reposez|repose|porte|portez) [toi|vous] bien|fais de beaux reves|beaux reves|prends soin de toi
  |prenez soin de vous|bisous|bises|cordialement|amuse toi [bien]|je (dois|vais) [y|me] (aller|partir|filer|dormir|coucher
  |te laisser|y aller) [QUAND]|il faut que j y aille|on se (parle|voit|reparle) [QUAND]
ET = et|mais|alors|bon|bien|oh|ah|oui|non|merci|ok|donc|aussi|encore|super|parfait|haha|dac|tres|eh|ben|hein|puis|voila
  |cool|genial
FRANCAIS = SALUER|CA|MERCIS|LOUER|OUI|ETAT|PARTIR
"""
ITALIAN = """
CHI = a tutti|a tutte|tutti|amico|amica|amico mio|ragazzi|cari|caro|cara|di nuovo|gente|a te|anche a te
MOLTO = molto|tanto|davvero|proprio|cosi|troppo|veramente|super|piu|un po|abbastanza|sempre|piuttosto
BELLO = bene|buono|buona|bello|bella|gentile|gentilissimo|gentilissima|simpatico|simpatica|utile|divertente|interessante
  |perfetto|perfetta|ottimo|ottima|fantastico|fantastica|meraviglioso|bravo|brava|bravissimo|grande|carino|carina|veloce
  |intelligente|triste|stanco|stanca|felice|contento|contenta|male|meglio|incredibile|chiaro|eccezionale|forte|figo
  |geniale|dolce|peccato
ORA = oggi|adesso|ora|stamattina|stasera|ultimamente|domani|dopo|anche|ancora|allora|gia|di nuovo|per ora|per oggi|in
  questi giorni|li|qui|presto
SALUTO = (ciao|salve|buongiorno|buonasera|buon giorno|buona sera|buonanotte|buona notte|buon pomeriggio|ehi|hey|ola
  |benvenuto|benvenuta|ciao ciao|bentornato|pronto) [NAME|CHI|NAME] [NAME|CHI|ORA]|(buon|buona|felice|buone) (natale
  |compleanno|anno|pasqua|feste|lunedi|venerdi|vacanze|ferie|domenica)|auguri [NAME|CHI|NAME]|piacere [di conoscerti|mio]
  |complimenti|congratulazioni|da quanto tempo
COME = [e|allora] come (stai|sta|state|va|andiamo|ti senti|te la passi|va la vita|procede|e andata|e andata la giornata
  |hai dormito|ti va|butta|vanno le cose|ti chiami) [la giornata|tutto|la vita|il fine settimana|CHI] [ORA] [CHI]|[va|e]
  tutto (bene|a posto|ok|apposto) [da te|li|CHI|ORA]|(che|cosa|che cosa) (fai|si dice|combini|racconti|ce di nuovo|c e di
  nuovo|mi racconti) [di bello] [ORA]|novita|e (tu|lei|voi|da te)|hai (dormito|mangiato|passato una buona giornata) [BELLO
  |ORA]|(ci sei|sei li|sei un robot|chi sei|sei umano|sei stanco) [ORA]
GRAZIA = [ok|bene|si|no] (grazie|ti ringrazio|la ringrazio|vi ringrazio|ringrazio) [mille|tante|infinite|MOLTO|di (cuore
  |tutto)|ancora|a te|a voi|infinitamente|moltissimo|in anticipo] [per|dell|del] [il|la|l|tutto|il tuo|la tua|i tuoi|il
  suo|la sua|aver|avermi|laiuto|questo|le|i] [MOLTO] [aiuto|supporto|tempo|pazienza|risposta|consigli|consiglio
  |disponibilita|gentilezza|informazioni|informazione|chiarimento|spiegazione|aiutato|ascoltato|risposto|chiacchierata
  |info|suggerimenti] [NAME|CHI|ORA]|(mi|ci) (sei|hai|e) [stato|stata] [MOLTO] (aiutato|utile|daiuto|di grande aiuto
  |aiuto) [MOLTO|tanto]|(te|le) ne sono grato|non so come ringraziarti|(sono) MOLTO grato
LODE = (sei|e|era|sei stato|sei stata|e stato|e stata|che|questo e|mi sembra|suona|hai|lei e) [MOLTO|un|una|il|la] [MOLTO]
  (BELLO|genio|angelo|tesoro|amore|mito|migliore|campione|grande|ragione|idea|giornata|peccato|sorpresa|notizia|bello
  sentirlo) [da parte tua|saperlo|idea|notizia]|(ottimo|bel|buon|grande|ottima|bella|buona) (lavoro|idea|risposta|domanda
  |consiglio|notizia|battuta|punto)|ben fatto|(mi) (piace|fa piacere|fai ridere|fa ridere) [MOLTO]|ti (voglio bene|adoro
  |amo)|sono (contento|felice|contenta) (per te|di (sentirlo|saperlo|vederti))|MOLTO BELLO|BELLO
SICURO = si|no|certo|certamente|ok|okay|va bene|daccordo|d accordo|capito|ho capito|capisco|esatto|esattamente|giusto
  |perfetto|figurati|prego|di (niente|nulla)|non ce di che|nessun problema|non (fa niente|importa|preoccuparti|lo so|ti
  preoccupare)|con piacere|volentieri|a posto [cosi]|basta cosi|e tutto [per (oggi|ora)]|niente altro|nientaltro|forse
  |vediamo|boh|chissa|scusa [MOLTO]|scusami|scusi|mi (dispiace|spiace) [MOLTO]|perdonami|colpa mia|sul serio|davvero|ma
  dai|non ci credo|wow|oh|ah|eh|haha|ahah|ahahah|mamma mia|oddio|per favore|stavo scherzando|scherzo|anche a (te|lei|voi)
  |altrettanto|anche io|idem|salute
UMORE = [io|tutto|ma|si] (sto|va|sono|mi sento) [MOLTO|un po] (BELLO|bene|annoiato|tornato|qui|pronto|pronta) [ORA|e tu
  |anche io]|cosi cosi|non ce male|non mi lamento|si tira avanti|tutto (bene|a posto|ok)|me la cavo|mi annoio
ADDIO = (arrivederci|addio|ciao|a|ci vediamo|ci sentiamo|alla|al|bye) [presto|dopo|domani|piu tardi|prossima|prossima
  volta|stasera|lunedi|martedi|mercoledi|giovedi|venerdi|sabato|domenica|risentirci|la prossima|prossima settimana|tra
  poco|poi] [NAME|CHI|NAME]|[ti auguro|passa|passate|e|vi auguro|le auguro] [una|un] (buona|buon|buono|bella|splendida
  |serena|felice|ottima) (giornata|serata|notte|settimana|pomeriggio|fine settimana|weekend|mattinata|domenica|viaggio
  |fortuna|riposo|appetito|lavoro|continuazione|guarigione) [NAME|CHI|NAME]|dormi bene|sogni doro|riposati|stammi bene
  |abbi cura di te|in bocca al lupo|crepi|buona fortuna|un (abbraccio|bacio|saluto)|saluti|baci|divertiti|devo (andare
  |scappare) [ORA|a (letto|dormire)]|vado a (letto|dormire) [ORA]
E = e|ma|allora|oh|ah|si|no|grazie|ok|bene|molto|anche|perfetto|ciao|haha|poi|dai|ottimo|cosi|beh|mah
ITALIANO = SALUTO|COME|GRAZIA|LODE|SICURO|UMORE|ADDIO
"""
PORTUGUESE = """
QUEM = a todos|pessoal|gente|galera|amigo|amiga|amigos|meu amigo|minha amiga|querido|querida|de novo|todos|a todas|cara
  |tudo bem|pra voce|para voce
MUITO = muito|tao|super|realmente|bastante|mais|demais|bem|sempre|mesmo|de verdade|tao|um pouco
BOM = bom|boa|bem|otimo|otima|legal|gentil|util|engracado|engracada|interessante|incrivel|perfeito|perfeita|excelente
  |maravilhoso|maravilhosa|fantastico|lindo|linda|rapido|esperto|inteligente|simpatico|fofo|triste|feliz|cansado|cansada
  |contente|mal|melhor|claro|bacana|show|demais|atencioso|querido|fixe|giro|massa|bonito|pena
QUANDO = hoje|agora|ultimamente|amanha|depois|tambem|ja|entao|esta (manha|noite|tarde|semana)|esses dias|de novo|por ai
  |por agora|por hoje|mesmo|logo|ainda|por ora|aqui|ai
SAUDAR = (oi|ola|bom dia|boa (tarde|noite)|opa|oie|e ai|eai|alo|hey|hello|salve|saudacoes|oi oi|bem vindo|bem vinda|fala)
  [NAME|QUEM|NAME] [QUANDO]|(feliz) (natal|aniversario|ano novo|pascoa|fim de semana|sexta)|boas festas|quanto tempo|muito
  prazer|prazer [em (te) conhecer|em conhecelo]|parabens [NAME|QUEM|NAME]|(bom|que bom) te ver [NAME|QUEM|QUANDO]|estou de
  volta
COMO = [e|entao] (como|que tal) [voce|voces|tu|vc] [esta|estas|vai|vao|estao|tem passado|tem estado|se sente|anda|foi
  |dormiu|passou] [voce|vc|tu|tudo|o dia|seu dia|o seu dia|a vida|as coisas|o teu dia|a semana|o fim de semana] [QUANDO]
  [QUEM]|[esta|e|ta|com] (tudo|td) (bem|bom|certo|ok|joia|tranquilo|otimo|em ordem) [com (voce|voces|vc|contigo|a senhora)
  |contigo|por ai|ai|QUEM|QUANDO]|(o que|que|quais) [e que] [ha|tem|voce|as] [esta|anda|conta|tem] [de novo|novidades
  |fazendo|faz] [QUANDO]|novidades|e (voce|vc|tu|ai|contigo|com voce)|(dormiu|descansou|ja (comeu|almocou|jantou)) [BOM]
  [QUANDO]|[voce] (esta|ta) (ai|acordado|bem|cansado) [QUANDO]|quem e voce|voce e [um] (robo|humano|real)
OBRIGO = [muito|muitissimo|ok|um|nossa|mais uma vez] (obrigado|obrigada|obg|brigado|brigada|valeu|grato|grata|agradeco
  |agradecido|obrigadao|te agradeco|fico grato) [MUITO|mesmo|de coracao|mais uma vez|de novo|desde ja|imensamente] [por
  |pela|pelo|pelas|pelos|a] [tudo|sua|seu|suas|a sua|o seu|tua|a tua|ter|me ajudar|toda|isso|me ouvir|perguntar|voce
  |todos] [ajuda|apoio|tempo|paciencia|resposta|respostas|dica|dicas|conselho|conselhos|atencao|informacao|informacoes
  |explicacao|gentileza|carinho|conversa|ajuda|ouvido|forca|rapidez] [NAME|QUEM|QUANDO]|(isso|voce|me|isto) [me|ja] (ajuda
  |ajudou|serviu|foi) [MUITO|bastante|util|de grande ajuda]|nao sei como (te) agradecer|te devo uma
ELOGIAR = [voce|vc|tu|isso|isto|que|isso ai] [e|es|foi|esta|parece|sao|foste] [MUITO|um|uma|o|a] [MUITO] (BOM|genio|anjo
  |amor|maximo|melhor|heroi|gracinha|fera|sol|fofura|uma graca|dez) [da sua parte|saber|ouvir isso|ideia|noticia]|(bom|boa
  |otima|otimo|excelente|belo|bela) (trabalho|ideia|resposta|pergunta|dica|noticia|piada|ponto)|bem feito|mandou bem|[eu]
  (adoro|amo|gosto de|adorei|amei|gostei) [voce|isso|MUITO]|fico (feliz|contente) [em (saber|ouvir)|por voce]|que (BOM
  |pena|legal|alegria|graca|fofo|maravilha|susto)|(voce) me faz rir
SIM = sim|nao|claro|certo|ok|okay|ta [bom|bem|certo]|esta (bem|bom|certo)|tudo bem|entendi|entendido|percebi|compreendo
  |entendo|exato|exatamente|isso (mesmo|ai)|com certeza|perfeito|combinado|beleza|de nada|por nada|imagina|nao (ha de que
  |tem problema|faz mal|se preocupe|ha problema|importa|sei|foi nada)|sem problema|sem problemas|disponha|as ordens|pode
  ser|talvez|e so isso|(isso|so) e tudo [QUANDO]|e tudo [QUANDO]|mais nada|so isso [QUANDO]|vou (tentar|pensar|ver|fazer
  isso)|concordo|serio|jura|nossa|uau|ah|oh|eita|puxa|poxa|caramba|meu deus|kkk|kkkk|rsrs|haha|desculpa|desculpe|me
  desculpe|sinto muito|perdao|foi mal|por favor|brincadeira|estou brincando|era brincadeira|igualmente|pra voce tambem
  |para voce tambem|o mesmo para voce|eu tambem|saude
HUMOR = [eu|por aqui|aqui] (estou|to|ando|vou|sigo|tudo|me sinto) [MUITO|um pouco] (BOM|de volta|pronto|pronta|entediado
  |animado|tranquilo|aqui) [QUANDO|e voce]|mais ou menos|vou indo|vai se levando|nao posso reclamar|tudo (tranquilo|na paz
  |bem)
ADEUS = (adeus|tchau|ate|xau|falou|nos vemos|a gente se (fala|ve)|bye|fui) [logo|breve|amanha|mais|mais tarde|depois|ja|a
  proxima|a vista|proxima|segunda|terca|quarta|quinta|sexta|sabado|domingo|semana que vem|la|a gente se ve] [NAME|QUEM
  |NAME]|[tenha|tenham|te desejo|desejo|uma|um|otimo|aproveite|passe|que voce tenha|tem] [uma|um|o] [BOM] (BOM|dia|noite
  |tarde|semana|descanso|fim de semana|feriado|viagem|resto de dia|domingo|sonhos|sorte|restinho|trabalho|sabado) [QUANDO
  |QUEM|NAME]|(boa|bom) (sorte|semana|viagem|descanso|fim de semana|trabalho|apetite|domingo|sexta)|(se cuida|cuide se
  |cuida te|durma bem|dorme bem|bons sonhos|descanse|melhoras|abraco|abracos|um abraco|beijo|beijos|beijinhos|um beijo
  |fica bem|fique bem|divirta se|forca|sucesso|boas ferias) [NAME|QUEM|NAME]|[eu] (preciso|tenho que|vou|tenho de) (ir
  |dormir|sair|embora|nessa) [embora|dormir] [QUANDO]
E = e|mas|entao|ah|oh|sim|nao|obrigado|obrigada|ok|bem|muito|tambem|perfeito|oi|haha|ai|nossa|otimo|ta|claro|pois|ne|bom
PORTUGUES = SAUDAR|COMO|OBRIGO|ELOGIAR|SIM|HUMOR|ADEUS
"""
DUTCH = """
WIE = allemaal|iedereen|jullie|vriend|mensen|jij|jongens|mijn vriend|lieverd|schat|weer|daar
HEEL = heel|erg|heel erg|zo|echt|super|ontzettend|zeer|best|ook|hartstikke|enorm|wel|altijd|te|heel veel
GOED = goed|fijn|leuk|lief|mooi|aardig|handig|grappig|interessant|geweldig|prachtig|perfect|top|slim|snel|super
  |fantastisch|prima|tof|gezellig|lekker|jammer|moe|blij|uitstekend|duidelijk|knap|attent|nuttig|beter|slecht|gaaf
  |behulpzaam|vriendelijk|klasse
GOEDE = goede|goeie|fijne|leuke|mooie|prettige|lieve|gezellige|lekkere|fantastische|geweldige|goed|fijn|prettig|leuk
  |gezellig|rustige|vrolijk|gelukkig|zalig
DAG = dag|ochtend|middag|avond|nacht|week|weekend|weekeinde|vakantie|dagje|reis|kerst|pasen|feestdagen|jaar|kerstfeest
  |nieuwjaar|verjaardag|avondje|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|rest van (je|de) dag|werkdag
NU = vandaag|nu|vanavond|vanmorgen|vanochtend|morgen|weer|nog|dan|zo|ook|net|al|later|straks|tegenwoordig|deze week|verder
  |eigenlijk|toch
GROET = (hallo|hoi|hey|he|hee|dag|goedemorgen|goedemiddag|goedenavond|goeienavond|goeiemorgen|goedendag|goede (morgen
  |middag|avond|nacht)|welterusten|slaap lekker|goedenacht|welkom|hoihoi|yo|moi|dag dag) [NAME|WIE|NAME] [NAME|WIE|NAME]|
  (leuk|fijn) je te (zien|ontmoeten|spreken)|lang niet gezien|(gefeliciteerd|proficiat) [NAME|WIE|met je verjaardag]|
  (fijne|vrolijke|prettige|zalig|gelukkig) (kerst|kerstdagen|feestdagen|pasen|nieuwjaar|verjaardag)
HOE = [en] hoe (gaat|is|gaat het|was|gaat ie|ist|maak|voel|heet) [het|t|je|jij] [met|jullie] [je|jou|u|jullie|jij|alles
  |het|je DAG|jouw DAG|de DAG] [NU] [WIE] [NU]|[is] alles (goed|oke|ok|in orde|kits|lekker) [met (je|jou)|daar|bij (je
  |jou)] [NU]|wat (doe|ben|heb) (je|jij) [aan het doen|NU]|(heb|ben) je [HEEL] (goed|lekker|moe|wakker|daar|er|al gegeten
  |een GOEDE DAG gehad) [geslapen|NU]|en (jij|jou|u|met (jou|u|je)|bij jou)|nog nieuws|wat is er nieuw|(ben je|bent u)
  [er] [nog|een] (robot|mens|echt|daar|er)|wie ben jij
DANK = [HEEL|ok|oke|nogmaals|hartelijk|duizendmaal|alvast|veel|ik] (bedankt|dank|dank je|dank u|dankjewel|dank je wel|dank
  u wel|dankuwel|thanks|merci|dankje|bedankt hoor|waardeer het|dank jullie) [wel|zeer|HEEL|je|hoor|voor alles|nogmaals]
  [voor|ik] [je|jouw|uw|de|het|alles|al je|deze|dit] [GOEDE|snelle] [hulp|antwoord|tijd|geduld|uitleg|tips|tip|info
  |informatie|advies|steun|moeite|reactie|gesprek|suggesties] [NAME|WIE|NU]|(dat|het|dit|je|daar) (heeft|hebt|helpt|heb
  |ben) [me|mij|ik] [HEEL] [goed|veel|verder|blij] [geholpen|mee|helpt]|ik ben [je] [HEEL] dankbaar|ik waardeer (het|dat
  |je hulp) [HEEL]
LOF = (je|jij|dat|het|dit|wat|u|hoe) [bent|is|was|klinkt|zijn|vind ik] [HEEL|een|de] [HEEL] (GOED|beste|schat|held|engel
  |genie|ster|kanjer|leuk idee|goed idee|goede vraag) [van (je|jou)|om te (horen|weten)|bedacht|gedaan]|(goed|mooi|knap
  |lekker) (gedaan|werk|zo|bezig|idee|gevonden)|(goede|goeie|leuke) (vraag|grap|antwoord|idee|tip|nieuws)|wat (GOED|een
  (GOEDE) (idee|dag|vraag|verrassing))|HEEL GOED|ik (vind je [HEEL] (aardig|leuk|lief)|hou van je|mis je)|(fijn|goed|leuk
  |blij) (dat|om) te (horen|weten)
JA = ja|nee|oke|okay|ok|prima|zeker|natuurlijk|klopt|precies|inderdaad|begrepen|ik (begrijp|snap) (het|je)|snap ik
  |duidelijk|graag gedaan|geen (probleem|dank|zorgen|idee|punt)|alstublieft|alsjeblieft|maakt niet uit|komt goed|is goed
  |goed zo|doe ik|zal ik doen|(dat|dit) (was|is) (alles|het|waar|juist) [voor (vandaag|nu)]|meer niet|misschien|ik weet
  [het] niet|we zien wel|sorry [hoor|daarvoor|voor (het storen|de vertraging)]|het spijt me [HEEL]|pardon|excuses|mijn
  fout|echt [waar]|serieus|wauw|wow|oh|ah|haha|hahaha|nou|tjonge|goh|jeetje|grapje|het was een grapje|ik maak maar een
  grapje|jij ook|u ook|insgelijks|van hetzelfde|hetzelfde|ik ook|gezondheid|proost|top|graag|laat maar
STEMMING = [met|ik|het|alles|en] (mij|gaat|ben|voel) [gaat|het|me|alles] [HEEL|een beetje|wat] [HEEL] (GOED|klaar|terug
  |zijn gangetje|verveeld) [NU|met mij|hoor|en (jij|jou|met jou)]|ik verveel me|zo zo|niet (slecht|zo goed|verkeerd)|mag
  niet klagen|z n gangetje
DOEI = (doei|dag|doeg|tot|houdoe|ciao|bye|de|later|ajuus) [ziens|morgen|later|straks|snel|dan|gauw|zo|de volgende keer
  |volgende (keer|week)|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|mazzel|vanavond|horens|wederhoren
  |groeten|binnenkort] [NAME|WIE|hoor]|[ik wens (je|jou|u)|nog|een|heb|en|geniet van] [een|je] [HEEL] GOEDE DAG [nog
  |verder|gewenst|WIE|NAME]|(slaap|droom|rust) [HEEL] (lekker|zacht|goed|uit|wel)|(veel) (plezier|succes|geluk|sterkte)
  [NU|ermee]|(succes|sterkte|beterschap|werkse|pas goed op jezelf|het beste|zorg goed voor jezelf|groetjes|groeten|liefs
  |kus|goede reis|eet smakelijk) [NAME|WIE|NAME]|ik (moet|ga) [nu|dan] (gaan|ervandoor|slapen|naar bed|weg|weer verder
  |door) [NU]|tot (zo|dan|later)|(ik) spreek je (morgen|later|snel)
EN = en|maar|dan|oh|ja|nee|bedankt|dank|oke|ok|nou|dus|ook|goed|super|haha|heel|fijn|prima|wel|zo|hoor|he|top|leuk
NEDERLANDS = GROET|HOE|DANK|LOF|JA|STEMMING|DOEI
"""
LANGUAGES = (
    (GERMAN, "DEUTSCH", "UND"),
    (SPANISH, "ESPANOL", "Y"),
    (FRENCH, "FRANCAIS", "ET"),
    (ITALIAN, "ITALIANO", "E"),
    (PORTUGUESE, "PORTUGUES", "E"),
    (DUTCH, "NEDERLANDS", "EN"),
)
"""Of each language its rules, the one of its phrases, and the one of words between phrases."""

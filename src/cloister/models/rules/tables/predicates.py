"""The predicates that are worth remembering: a table for each category (see `notation` for the format).

An entry is matched at the start of a predicate's `key` (see `grammar`): the base form of the verb, without adverbs and negation,
and the rest unchanged. What follows the match is part of the memory too. For precision, a verb is listed with the complements that
make it a lasting fact, and "I have a …" needs a thing that people keep.
"""

from cloister.models.rules.tables import words
from cloister.models.rules.tables.notation import alternatives

AMBITION = r"""
move (?!the|this|that|on|it|forward|ahead|my)
move$
become
retire
marry
get married
have (kids|children|a baby)
adopt
foster
propose
volunteer
specialise
specialize
learn (?!more|about|some|the|what|if|from|how (it|this|they|the|much|many))
study (?!the)
start (my own|a (\w+ ){0,2}(business|family|company|podcast|blog|band|studio|channel|garden|nonprofit|foundation))
open (a|my|an)\b
launch my
write (a|my) ([\w-]+ ){0,2}?(book|novel|memoir|screenplay|cookbook|thesis)
buy (a|my|an|our) ([\w-]+ ){0,3}?(house|car|flat|apartment|home|boat|bike|piano|guitar|van|farm|camera)
sell (my|our) ([\w-]+ ){0,2}?(house|car|flat|apartment|home|boat|bike|business|company|motorbike)
travel (to|around|across|through|the)
visit [A-Z]\w*
go (to|back to) ([A-Z]\w*|college|university|school|grad|law|med)
go (vegan|vegetarian|part-time|freelance)
quit (my|smoking|drinking)
stop (smoking|drinking|eating)
run (a|the|my|for) ([\w-]+ ){0,3}?
    (marathon|half-marathon|race|10k|5k|ultra|triathlon|office|mayor|business|bakery|shop)
lose (weight|\d+)
apply (to|for)
enrol
enroll
join (a|an|the ([A-Z]\w*|team|army|gym|club|band|choir|police|navy|company))
build (a house|my own)
climb
hike the
work (as|at|for|in (?!the future)|with)
live (in|abroad|by|near|on|closer)
get (a|an|my) ([\w'-]+ ){0,3}?
    (dog|cat|puppy|kitten|degree|master's|phd|licence|license|tattoo|job|house|certification)
    (?!-| (bed|food|toy|crate|collar|door|tree|interview|offer))
switch (to (?!the|this|that|tabs|using)|from|careers|jobs)
change (careers|jobs|my name)
take (a gap year|a sabbatical|early)
publish
record (an|my) album
compete
renovate
pursue (a|my|an)
spend (the|next|a) (summer|year|winter)
save (up )?for
finish my (degree|phd|thesis|novel|book)
participate in
attend (the|[A-Z]\w*)
"""
AMBITION_ING = r"""
moving
becoming
retiring
marrying
adopting
fostering
quitting
leaving my
applying (to|for) (a job|college|grad|univ|med)
getting (married|a (\w+ )?(dog|cat|puppy|kitten|tattoo|divorce)(?!-| (bed|food|toy|crate|collar|door|tree)))
(changing|switching) (careers|jobs)
starting (my own|a (\w+ ){0,2}(business|family|company|podcast|blog|band|career))
opening (a|my)
going (back to (school|college|university|work)|freelance|vegan|part-time)
having (kids|children|another (baby|child))
writing (a|my) ([\w-]+ ){0,2}?(book|novel|memoir)
pursuing (a|an|my)
buying (a|my) (\w+ ){0,2}(house|flat|home|car)
selling (my|the) (\w+ )?(house|flat|home|car|business)
learning (to|how to|[A-Z]\w*)
"""
GENERAL_THE = r"""
sea|ocean|outdoors|beach|mountains|rain|snow|sun|smell of|taste of|cold|heat|summer|winter|autumn|countryside|city
desert|forest|theatre|opera|cinema|piano|violin|guitar|gym|nineties|eighties|(19)?\d0s
"""
NOT_A_LIKING = r"""
<POINTING>|the|how|what|when|where|why|being able|to$|to (think|say|see|hear|know|believe|help|have|get|be)
option|version|choice|answer|variant
so|seeing|hearing|getting to|everything|such|any|a (lot|bit|good|nice)|knowing|as|and|too|mine|yours|here|there
some|having|talking (to|with) you|working with you|doing (it|this|that)
"""
DIET = r"""
meat|pork|beef|fish|seafood|shellfish|dairy|gluten|alcohol|coffee|caffeine|sugar|eggs|nuts|peanuts|kosher|halal
plant-based|wheat|red meat|animal|lactose|cheese|milk|bread|spicy|soy|cigarettes|tomatoes|onions|garlic|mushrooms
wine|beer|whisky|whiskey|vodka|tea|soda|cola|chocolate|junk food|fast food|rice|pasta|chicken|lamb|tofu|carbs|sweets
"""
BEGUN = r"""
learning|working|playing|training|studying|dating|going to|volunteering|running|swimming|cycling|lifting|meditating
journaling|practi[cs]ing|teaching|collecting (?!(a|two|three|four|five|\d+) (year|month|week|day))
writing (?!another)|painting|gardening|smoking|drinking|eating|therapy
taking (\w+ )?(lessons|classes|medication|insulin)
a new|my (own|new)|at [A-Z]\w*|school|college|university
a ([\w-]+ ){0,2}(business|job|course|company|blog|podcast|family|band|diet|phd|degree)
"""
LOCATION = r"""
live (?!in (the moment|fear|hope|a (world|society|dream)|my head)|with (it|that|this)
    |(on|off) (coffee|caffeine)|by (the (code|rule|sword|book)|my))
    (in|on|at|near|nearby|by|with|outside|alone|off|close to|next to|across
    |between|about|just|out|downtown|abroad)\b
(have (always )?lived|lived|have been living|be living|reside) (in|on|near|with|abroad|alone|here for)\b
be from (a |an |the (?!team|future)|outside|near|<CAPITAL>)
was (born|raised)\b|grew up (in|on|near|with|speaking|by|outside|without|as)\b
be based (in|out of|near|at)\b|split my time between\b
rent <A> <ADJECTIVES>(flat|apartment|house|room|studio|place|cabin|office|garage|allotment|bungalow)\b
have been in [A-Z][\w-]+ (for|since)\b
"""
WORK = r"""
work (at|for|as|in|part[- ]time|full[- ]time|remotely|nights|weekends|freelance|from home|shifts
    |(night|day|late|early|double|long) (shifts?|hours)|on (oil|ships|boats|cruise|construction|cars
    |an? (farm|ship|boat|ranch))|with (children|kids|animals|refugees|students|wood|people|the elderly|data
    |clients|patients))\b
(be (working|employed)|have worked|have been working|worked) (at|for|as|in (?!the|progress)|part-time
    |full-time|remotely)\b
be (working on|writing|finishing|doing) (a|an|my) <ADJECTIVES>(?i:<OPUS>)\b
run (a|an|my own|my|our|two) <ADJECTIVES><BUSINESS>\b
(manage|lead|supervise) (a|an|the|two|my own) ([\w-]+ ){0,2}?(team|department|group|shop|store
    |restaurant|branch)\b
teach (?!<POINTING>\b|me\b|myself\b)\w
(study|major in|be majoring in|be studying|have been studying|studied) (?!it|this|that|for|hard|how|every|real
    |a lot|the)\w
freelance\b|be in my (first|second|third|fourth|fifth|final|last|freshman|sophomore|junior|senior) (year
    |semester|term)\b
(founded|co-founded|cofounded) (?!<POINTING>\b)\w
volunteer (at|with|for|in|as|every|once)\b|be volunteering (at|with|for|in)\b
    |have been volunteering (at|with|for|in)\b
be (self-employed|unemployed|retired|semi-retired|between jobs|out of work)\b
be on (parental|maternity|paternity|sick|medical) leave\b
have (a|an|two|my own) ([\w'-]+ ){0,3}?(job|degree|phd|PhD|master's|bachelor's|business|bakery|diploma
    |practice|law firm|startup|side hustle|internship)\b(?! (interview|offer|idea|question|application))
"""
FAMILY = r"""
have <A> <ADJECTIVES><RELATION>\b(?! (time|dinner|meeting|reunion|photo|portrait|trip))
be (happily )?(married|engaged|widowed|an only child|expecting (a (baby|boy|girl|child)|our (first|second|third)
    |twins))\b(?! (in|with)\b| to (my job|work|the idea))
have been (happily )?(married|engaged|together|divorced|widowed)\b
be in a (\w+ )?relationship\b|be (dating|seeing) [A-Z]
be the (oldest|eldest|youngest|middle|only|second|third)\b(?= (of|child|son|daughter|brother|sister|sibling
    |girl|boy))
(raise|be raising) (my|our|two|three|four) \w
"""
POSSESSION = r"""
have (?!my (?!own))<A> <ADJECTIVES>(<PET>|(?i:<THING>))\b(?!-| (idea|question|problem|issue|appointment|trip|ride|loan|show
    |crash|bed|food|toy|page|screen|bug|error|in this fight))
own (?!up|it|that|this)((a|an|two|three|four|five|several|my|some|\d+)\b|[A-Z])
drive (a|an|my) (?!lot|bit|hard|point)
use ((a|an|my) )?([A-Z][\w+#-]*|i[A-Z]\w+|(\w+ ){0,2}(phone|laptop|wheelchair|cane|keyboard|camera))\b
collect (?!my |the |data|logs|metrics|errors|information|feedback|<POINTING>\b)\w|inherited (?!<POINTING>\b)\w
bought (a|an|my|our|two|three|some) <ADJECTIVES>(<PET>|(?i:<THING>)|second-hand|secondhand|used
    |vintage)\b(?! (bed|food|toy|stand|case|mount|bag))
wear (glasses|contacts|contact lenses|hearing aids|a hearing aid|braces|size \d+)\b|play on an? \w
"""
PREFERENCE = r"""
(love|like|enjoy|hate|adore|dislike|detest|loathe|despise) <LIKED>\w
prefer (?!<POINTING>\b|not|the (first|second|third|last|former|latter|other|red|blue|new|old)\b|option|version)\w
have always (loved|liked|enjoyed|hated|adored|disliked|preferred) <LIKED>\w
    |have always been (interested in|fascinated by|into|drawn to)
(loved|liked|enjoyed|hated) <LIKED>(?=[\w' -]{1,60} (since|when I was|as a (kid|child)))
cannot stand (?!<POINTING>\b|here|up|to|by|on|the (thought|idea))\w
be (a |an )?([\w-]+ ){0,2}?(fan|lover|fanatic|enthusiast|admirer|supporter|collector
    |aficionado)s? of (?!<POINTING>\b|yours|the [a-z]|how|what)\w
be (a |an )([\w-]+ ){0,2}?(lover|fanatic|enthusiast|collector|buff|nerd|geek|aficionado)$
be (really |very |quite |so )?(into|fond of|keen on|passionate about|obsessed with|addicted to|crazy about
    |all about) (?!<POINTING>\b|the|details|two|making sure)\w
support [A-Z][\w.]*( [A-Z][\w.]*)?$
be (really |very )?(afraid|scared|terrified) of (heights|spiders|flying|dogs|snakes|the dark|water|needles
    |clowns|bees)\b
have (a|an) ([\w-]+ )?(sweet tooth|phobia|fear of|passion for|soft spot for|weakness for|obsession with
    |green thumb)\b
"""
HEALTH = r"""
be (very |severely |deathly |mildly |highly )?allergic to (?!work|bad|stupid|nonsense|bullshit|people|change)\w
be (a )?(strict |legally |clinically |completely |partially |fully )?<TRAIT>\b(?! (to|curious|spot)\b)
    |have been (a )?(strict |mostly )?<TRAIT>\b
have (?!been|had)(a |an |my )?<ADJECTIVES>(?i:<CONDITION>)\b
have (a|an|two) (bad|weak|artificial|dodgy|injured|broken|chronic) ([\w-]+ )?(knees?|back|hip|shoulders?
    |ankles?|eyesight|hearing|memory|heart|wrists?|leg|teeth)\b
suffer from\b|(was|have been|got) diagnosed (with|as)\b
(eat|drink|consume) (mostly |only |any |much )?<DIET>\b|smoke( \w+)?$
cannot (eat|drink|tolerate|digest|have) (any )?<DIET>\b|cannot (hear|see|walk|drive
    |swim)( (well|far|very)| in my| at night|$)
take ([\w-]+ ){0,3}?(medication|meds|insulin|antidepressants|statins|pills|antihistamines|painkillers
    |supplements)\b(?! of)
be on ([\w-]+ ){0,3}?(medication|insulin|antidepressants|statins|dialysis|diet|beta blockers
    |blood thinners)\b
be (in|using) a wheelchair\b|use a (wheelchair|cane|hearing aid)\b
be recovering from ([\w'-]+ ){0,3}?(surgery|injury|illness|operation|cancer|stroke|accident|addiction
    |burnout|depression|covid|break)
had (a |an |my |two )?([\w-]+ ){0,2}?(surgery|heart attack|stroke|miscarriage|transplant|concussion
    |operation|hysterectomy)\b
(broke|tore|fractured|sprained|dislocated) my \w
"""
SELF = r"""
be (\d{1,2}|1[01]\d|(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(-\w+)?)( years?[ -]old| now
    |$)
turned (\d{1,3}|eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b
    (?! (degrees|pages|percent|times|minutes|the)\b)
be \d('\d|\.\d| f(ee|oo)t)[\w '\"]{0,12}$|be \d{3} ?cm\b
be (a |an )?(\w+ )?(?i:<STATUS>)\b
be (half |originally |part )?([A-Z][a-z]+(ese|ish|ian|ean|can|eli|tani|aqi)|French|Dutch|Greek|German
    |Swiss|Czech|Thai|Welsh|Filipino)\b
(speak|can speak|be fluent in|be learning|be teaching myself|have been learning
    |learned) ([\w-]+ ){0,2}?<LANGUAGE>\b
be (learning|teaching myself)( how)? (to (play|code|drive|swim|sail|cook|knit|sew|speak|ski|surf|ride
    |fly|dance|paint|draw)|the (guitar|piano|violin|drums|cello|flute|ukulele|saxophone))\b
play (the (?!devil|part|role|fool|game|victim|lottery|odds|market|field|song|video|blame|long)\w+
    |in (a|an|the) ([\w-]+ ){0,2}?(band|orchestra|team|league|choir|group|quartet|club|ensemble)|for (a|the) |<SPORT>
    |guitar|piano|violin|drums|bass|cello|saxophone)
cannot (play|cook|ride|sing|dance|knit|sew|code|draw|swim)\b
be (really |very |quite |pretty |fairly )?(good|bad|terrible|great|excellent|hopeless|useless) (at
    |with) (?!<POINTING>\b|the moment|giving|making)\w
be new to (?!<POINTING>\b)\w
have ([\w-]+ ){0,2}?(citizenship|nationality|brown eyes|blue eyes|green eyes|curly hair|red hair|long hair
    |black belt)\b
sing in (a|the)\b|dance (in a|with a)\b
"""
PLAN = r"""
be (planning|hoping|looking|aiming|preparing|intending|getting ready|saving up) to <AMBITION>
(plan|hope|intend|aim) to <AMBITION>
(want|have always wanted) to <AMBITION>
be going to <AMBITION>|be going to (be an? \w|have a baby)
be planning (a|an|my|our) ([\w'-]+ ){0,2}?(trip|wedding|holiday|vacation|move|honeymoon|retirement)\b
be (getting (married|engaged|divorced)|moving (to|in|out|into|house|back|home|abroad)|retiring
    |adopting (a|an|two|my)|graduating|selling (my|the|our) (\w+ )?(house|car|flat|boat|business|company
    |home)|quitting my)\b
be (flying|travell?ing|going) to [A-Z][\w-]++<SOON>
be saving (up )?(for|to buy)\b|dream of \w+ing\b
be training (for (a|an|my|the)|to be|to become|as a)\b
be (preparing|studying) for (a|an|my|the) ([\w'-]+ ){0,3}?(exams?|marathon|wedding|competition|finals
    |triathlon|tournament|bar|certification)\b
will be (starting (my|a|at)|moving|joining|studying|teaching|travell?ing to|getting married|retiring|turning
    |flying to)\b
will (move to|retire|graduate|turn \d|get married|start my)\b
(start|begin) (my (?!day|morning|mornings|week)|at |school|college|university) ?(?=.*\b(on|in|next|at)\b)
have (a|an|my) ([\w'-]+ ){0,3}?(appointment|interview|exam|surgery|operation|flight|deadline|wedding
    |recital|audition)(?= .*\b(?i:on|next|tomorrow|at \d|in (<MONTH>))\b)
be (thinking|considering|dreaming)( about| of)? <AMBITION_ING>|be planning on <AMBITION_ING>
"""
DECISION = r"""
(have )?decided (to (?!go for it)|on|against|not to|that I)\b
(chose|have chosen|picked|have picked|opted for|settled on|have settled on|went with
    |have gone with) (?!<POINTING>\b|up|out|to do|option|version|answer|number|some|my|the (first|second|last|best) one)\w
be going with (?!option)((the|a|an)\b|[A-Z])|(have )?opted (to|for)\b
(have )?(committed|agreed|resolved|vowed|promised myself) to (?!<POINTING>\b|be honest|disagree|the\b)\w
(have )?signed (up for|a lease|the contract)\b|(have )?turned down (the|a|an)\b
have made up my mind (to|about)\b
"""
CHANGE = r"""
(have )?moved (from|in with|out|back|into (a|an|my|our)|abroad|here from|away|house|home)\b
(have )?moved to (?!the (?!us\b|uk\b|usa\b|city|country|coast|suburbs|mountains|[A-Z])|next|this|that|another|step|using
    |page|line|section)\w
(have )?relocated (from|to|back)\b|(have )?settled (down )?in [A-Z]
(have )?(took|taken|accepted|started) (a|an) ([\w-]+ ){0,2}?(job|position|role) (at|with|for|as)\b
(have )?(went|gone) back to \w+ing\b|(have )?called off (the|my|our) (engagement|wedding)\b
(have )?(switched|changed|converted) (from|jobs|careers|majors|schools|my (name|major|job|career|diet|mind about))\b
(have )?(switched|converted) to (?!the|this|that|using|main|master|branch|tabs?|line|another)\w
(have )?(quit|left) (my (\w+ )?(job|husband|wife|position|studies|degree|phd|career|role)|smoking
    |drinking|school|college|university|[A-Z])
(have )?resigned\b|(was|got|have been) (promoted|laid off|fired|hired|accepted|elected|admitted
    |made redundant|transferred|engaged|married|divorced|widowed|offered (a|the))\b(?! by how)
(have )?(started|begun|began|taken up|took up) <BEGUN>\b
(have )?(stopped|given up|gave up|cut out|quit) (?!by |off |it\b|that\b|this\b|thinking|feeling|getting
    |noticing|seeing|crying|laughing|looking|asking)(\w+ing\b|meat|on \w+|dairy|alcohol|sugar|gluten|coffee
    |my \w)
used to (?!it|this|that|the|think|be (so|really))\w
got (a|an|my|our) ([\w'-]+ ){0,3}?(job|promotion|divorce|degree|licence|license|diploma|scholarship|tattoo
    |citizenship|visa|certification|green card|<PET>)\b(?!-| (bed|food|toy|interview|offer|error|queue))
(have )?(became|become) ((a|an|vegan|vegetarian)\b|[A-Z])
(have )?sold (my|our|the (house|car|flat|boat|business|company))\b
(have )?adopted <A> \w|(have )?retired\b(?! to bed)
(have )?(dropped out|graduated|broken up|broke up|split up|separated|got back together)\b(?! (the|my) )
lost (my|our) (job|mother|father|mum|mom|dad|wife|husband|brother|sister|son|daughter|dog|cat|home|house
    |grandmother|grandfather)\b
(have )?(joined|enrolled in|transferred to) (?!in\b|<POINTING>\b|the (call|meeting|chat|tables?|two|dots|strings|lists?)\b)\w
(have )?(finished|completed|defended|earned|passed|published) my ([\w'-]+ ){0,2}?(?i:degree|phd|thesis
    |master's|bachelor's|book|novel|screenplay|studies|residency|internship|driving test|exams?|finals|training
    |apprenticeship|dissertation|certification)\b
(have )?(launched|opened|started) my (own|first|new) \w|won (a|an|the|my|first|second|third) (?!argument|lottery|bet)\w
had (a baby|a son|a daughter|twins|my first child)\b|gave birth\b|proposed to\b|married (my|a|an|[A-Z])
be (divorced|separated|pregnant|single)\b(?! (out|with|from my)|-)|came out (as|to)\b
"""

HABIT = r"""
(go (to (the|a|an|my|church|bed|work|school|yoga|[A-Z])|for|\w+ing)|cook|run|walk|swim|cycle|train|play|meditate|read
    |exercise|work out|practise|practice|volunteer|attend|take|eat|drink|wake|get up|bike|jog|hike|visit|call|bake
    |write|paint|watch|listen|wear|sleep|skip|commute|travel|use|shop|garden) \S
"""
OFTEN = r"""
\b(every|each|once an?|twice an?|(two|three|four|five|\d) times an?|daily|weekly|most (days|mornings|evenings|weekends)
    |on (week(ends|days)|(mon|tues|wednes|thurs|fri|satur|sun)days)|before (bed|work|breakfast))\b
"""
OF_US = r"""
(be ((getting married|moving|expecting|planning a|engaged|married|divorced|separated)|living (in|on|near))|live (in|on|near)
    |have (a|an|two|three|four|five)\b
    |(have )?(moved|decided|adopted|bought|broke up|broken up|split up|separated|relocated|settled|sold (the|our)
    |called off|got (married|engaged|divorced)))
"""
FRAGMENTS = {
    "A": r"(a|an|my|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}|some|several|many|a few|a couple of|any|no)",
    "ADJECTIVES": r"((?!(from|of|in|to|with|for|on|and|more|at|about|left)\b)[\w'-]+ ){0,3}?",
    "POINTING": "(it|this|that|these|those|them|him|her|you|your|us|his|their|its|one|both|all|each)",
    "CAPITAL": "[A-ZÀ-ÖØ-Þ]",
    "SOON": r"(?=.*\b(\d|next|in|on|for|this|with|instead|tomorrow|soon)\b)",
    "MONTH": "((jan|febr)uary|march|april|june|july|august|(sept|nov|dec)ember|october)",
    "LIKED": rf"((?=the {alternatives(GENERAL_THE)}\b)|(?!{alternatives(NOT_A_LIKING)}(?!\w)))",
    "AMBITION": rf"{alternatives(AMBITION)}\b",
    "AMBITION_ING": rf"{alternatives(AMBITION_ING)}\b",
    "DIET": alternatives(DIET),
    "BEGUN": alternatives(BEGUN),
    "RELATION": words.RELATION,
    "PET": words.PET,
    "THING": words.THING,
    "CONDITION": words.CONDITION,
    "TRAIT": words.TRAIT,
    "STATUS": words.STATUS,
    "OPUS": words.OPUS,
    "BUSINESS": words.BUSINESS,
    "SPORT": words.SPORT,
    "LANGUAGE": words.LANGUAGE,
}

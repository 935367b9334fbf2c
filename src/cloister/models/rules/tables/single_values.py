"""The predicates and words of facts that have one value at a time: home, employer, role, relationship, age, diet.

Predicates are in the format of `notation`, and are matched at the start of a predicate's key (see `grammar`).
"""

from cloister.models.rules.tables.notation import words

NAME = r"(?:the )?[A-ZÀ-ÖØ-Þ][\w'.&-]*(?:,? (?:(?:de|da|do|del|la|le|of|the|am|an|der|upon|and) )?[A-ZÀ-ÖØ-Þ0-9][\w'.&-]*){0,4}"
"""A capitalised name of a town or an organisation: "Rio de Janeiro", "the Netherlands", "St. Luke's"."""

LIVES_IN = (
    r"(?:(?:live|be living|be based|reside|be residing)|(?:have been living|have lived)(?=.* (?:for|since) ))"
    r" (?:in|on|at|out of|over in|back in)"
)
MOVED = r"(?:have )?(?:moved|relocated|resettled|emigrated|immigrated)"
SETTLED = r"(?:have )?(?:settled(?: down)? in|moved in with (?:my|their) \w+ in)"
MOVED_TO = rf"{MOVED} (?:back |over |house |home |again )?(?:(?:away |out )?(?:from|of) (?:{NAME}) (?:and )?)?(?:back )?(?:to|into)"
A_HOME_IN = (
    r"(?:a|an|my|our|the|their) (?:[\w-]+ ){0,3}?(?:house|flat|apartment|home|cottage|room|studio|condo|loft) in"
)
WORKS_AT = (
    r"(?:(?:work|be working|be employed)"
    r"|(?:have worked|have been working)(?=.* (?:for \w+ (?:\w+ )?(?:years?|months?|weeks?)|since)))"
    r" (?:(?:full|part)[- ]time )?(?:remotely )?(?:at|for|by)"
)
JOINED = (
    r"(?:have )?(?:joined|(?:just )?started(?: working| work| a new job| a job| (?:my|their) new job)? (?:at|for|with)"
    r"|(?:was|got|have been) hired (?:by|at)|(?:got|took|taken|accepted|started)"
    r" (?:a|an|my|their) (?:[\w'-]+ ){0,3}?(?:job|position|role) (?:at|with|for)"
    r"|(?:switched|transferred|moved) from (?P<former>.{2,60}?) to)"
)
WORKS_AS = r"(?:work|be working|be employed|have worked) as"
BECAME = r"(?:have )?(?:became|become|retrained as)"
PROMOTED = r"(?:was|got|have been) (?:promoted|appointed)(?: to(?: be)?| as)?"
LEFT = r"(?:have )?(?:left|quit|resigned from|stopped working (?:at|for))"
MOVED_AWAY = r"(?:have )?moved (?:away from|out of)"
PARTLY = (
    r" (?:during|(?:at|on) (?:the )?weekends?|on (?:week|mon|tues|wednes|thurs|fri|satur|sun)days?|half|part|most of|some of"
    r"|in (?:the )?(?:summers?|winters?|evenings?|mornings?)|every (?:other|second)|when(?:ever)?)\b"
)
"""After a value: it is true only at times."""
NO_LEAVING = (
    r" (?:at \d|early|late|this (?:morning|evening|afternoon)|today|tonight|yesterday|around|before|after|by|with)\b"
)
OUT_OF_WORK = r"""
(have )?(quit|left|lost) (my|their) (\w+ )?(job|position)\b
(have )?(resigned|retired)\b(?! (to bed|my|their|the|an?)\b)
(have )?(switched|changed) (jobs|employers|companies)\b
(was|got|have been) (fired|laid off|made redundant|let go|sacked)\b
be (unemployed|retired|between jobs|out of work|jobless)\b
"""

COUNTRIES = words(
    "afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus "
    "belgium belize benin bhutan bolivia bosnia botswana brazil britain brunei bulgaria cambodia cameroon canada chad chile "
    "china colombia congo croatia cuba cyprus czechia denmark ecuador egypt england eritrea estonia ethiopia europe fiji "
    "finland france gabon gambia georgia germany ghana greece greenland guatemala guinea guyana haiti holland honduras "
    "hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya korea kosovo kuwait "
    "laos latvia lebanon liberia libya lithuania madagascar malawi malaysia maldives mali malta mauritius mexico moldova "
    "monaco mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman "
    "pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda scotland senegal serbia "
    "slovakia slovenia somalia spain sudan suriname sweden switzerland syria taiwan tanzania thailand togo tunisia turkey "
    "uganda ukraine uruguay us usa uk uae uzbekistan venezuela vietnam wales yemen zambia zimbabwe africa asia scandinavia "
    "america alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois indiana "
    "iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska "
    "nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming bavaria catalonia "
    "andalusia tuscany sicily sardinia lombardy normandy brittany provence ontario alberta manitoba saskatchewan queensland "
    "victoria tasmania cornwall devon kent yorkshire surrey"
)
LARGE_AREAS = (
    "new zealand|south africa|north korea|south korea|saudi arabia|sri lanka|costa rica|el salvador|united states|united kingdom"
    "|united arab emirates|great britain|northern ireland|czech republic|dominican republic|sierra leone|burkina faso"
    "|ivory coast|new hampshire|new jersey|new mexico|north carolina|south carolina|north dakota|south dakota|rhode island"
    "|west virginia|british columbia|nova scotia|new south wales|middle east|eastern europe|western europe|latin america"
)
NO_TOWN = words(
    "fear peace hope poverty comfort luxury sin denial harmony exile hell heaven town town. downtown dorms housing suburbia "
    "student shared temporary a an the my our this that here there it general between one two three four five six seven"
)
NO_EMPLOYER = words("instagram facebook twitter linkedin reddit discord tiktok whatsapp telegram slack youtube netflix")
NO_EMPLOYMENT = words(
    "club gym team choir band class group league church party course society orchestra union community call meeting forum "
    "association volunteer volunteers member night home all least present once first ten two three four five six seven eight"
)
MAYBE_NO_JOB = words(
    "volunteer retiree pensioner veteran hobbyist gamer vegetarian vegan pescatarian teetotaller smoker non-smoker christian "
    "catholic muslim buddhist atheist twin widow widower mom mum mother dad father parent grandmother grandfather grandparent "
    "stepmother stepfather godmother godfather homeowner landlord beginner person owl bird introvert extrovert citizen "
    "immigrant refugee expat speaker perfectionist minimalist scout survivor homemaker housewife stay-at-home writer author "
    "poet novelist blogger photographer dancer musician singer songwriter composer drummer guitarist pianist violinist cellist "
    "bassist dj artist illustrator sculptor potter painter athlete runner beekeeper gardener collector athlete founder "
    "co-founder entrepreneur cook baker model carer caregiver coach founder"
)
"""Last words of "I'm a …" that many are besides their job."""

STATUSES = r"""
single=be single\b
relationship=(be|have been) (in a (\w+ )?relationship|dating|seeing (?-i:[A-Z])|with (my|their) (boyfriend|girlfriend|partner))\b
relationship=have a (new )?(boyfriend|girlfriend|partner)\b
relationship=(have )?(started dating|got back together)\b
engaged=(be|got|have been|became) engaged\b
married=(be|got|have been) (happily )?(married|remarried)\b
married=(have )?(remarried|married (my|their|a|an|(?-i:[A-Z])))
married=have a (wife|husband)\b
separated=(be|got|have)? ?separated\b
divorced=(be|got|have been|am|have) (recently |newly )?divorced\b|got a divorce\b
widowed=(be|was|have been) widowed\b|be a widow(er)?\b|lost (my|their) (wife|husband)\b
broken up=(have )?called off (the|my|our|their) (engagement|wedding)\b
broken up=(have )?(broke|broken|split) up\b|left (my|their) (husband|wife|boyfriend|girlfriend|partner)\b
"""
ENDED_BY = {
    "single": words("relationship engaged married"),
    "relationship": words("single"),
    "engaged": words("single"),
    "married": words("single engaged relationship divorced widowed separated"),
    "separated": words("married relationship engaged"),
    "divorced": words("married separated engaged"),
    "widowed": words("married"),
    "broken up": words("relationship engaged married"),
}
"""Which statuses a new one makes untrue. Others may be true together: divorced, and in a relationship."""
MEATLESS = words("vegan vegetarian pescatarian plant-based")
OFTEN_SEVERAL = words("email school university college major office team business landlord") | {
    "phone number",
    "time zone",
}
"""Attributes of which a person may have two: another value replaces one only if it is called new."""
DIETS = words("vegan vegetarian pescatarian carnivore omnivore meat")
"""Diets of which a person has one; others, such as keto, go with these."""

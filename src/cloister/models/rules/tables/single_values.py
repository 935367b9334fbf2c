"""The predicates and words of facts that have one value at a time: home, employer, role, relationship, age, diet.

Predicates are in the format of `notation`, and are matched at the start of a predicate's key (see `grammar`).
"""

from cloister.models.rules.tables.notation import words

NAME = r"(?:the )?[A-ZÀ-ÖØ-Þ][\w'.&-]*(?:,? (?:(?:de|da|do|del|la|le|of|the|am|an|der|upon|and) )?[A-ZÀ-ÖØ-Þ0-9][\w'.&-]*){0,4}"
"""A capitalised name of a town or an organisation: "Rio de Janeiro", "the Netherlands", "St. Luke's"."""

PARTLY = (
    r" (?:during|(?:at|on) (?:the )?weekends?|on (?:week|mon|tues|wednes|thurs|fri|satur|sun)days?|half|part|most of|some of"
    r"|in (?:the )?(?:summers?|winters?|evenings?|mornings?)|every (?:other|second)|when(?:ever)?)\b"
)
"""After a value: it is true only at times."""
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
    "association volunteer volunteers member night home all least present once first ten"
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
single=be (newly |recently |happily |officially )*single\b(?!-)
single=be back on the market\b
reunited=((have )?got|be|have gotten) back together\b
relationship=(be|have been) (in a (\w+ )?relationship|dating
    |seeing ((?-i:[A-Z]\w*)|someone|somebody|anyone|anybody)|with (my|their) (boyfriend|girlfriend|partner))\b
relationship=be (taken|together|(officially )?(a couple|an item|boyfriend and girlfriend))\b(?! (for|at|in|on|this|with)\b)
relationship=(have|got|found) a (new )?(boyfriend|girlfriend|partner)\b
relationship=(have )?(started|begun|began) (dating|seeing ((?-i:[A-Z]\w*)|someone|somebody))\b
engaged=(be|got|have been|became|have got) (newly |officially )?engaged\b(?! (in|with)\b)
married=(be|got|have been|have got) (happily |newly |officially |finally )*(married|remarried|hitched|wed)\b
    (?! to (my|their) (job|work)\b)
married=(have )?(remarried|married (my|their|a|an|(?-i:[A-Z]))|tied the knot|eloped|exchanged vows)
married=be (an? (\w+ )?married (man|woman|couple)|husband and wife|newlyweds|wife and wife|husband and husband)\b
married=have a (wife|husband)\b
married=be a (wife|husband)$
separated=(be|got|have)? ?(recently |legally |officially )?separated\b
separated=be living apart\b
divorced=(be|got|have been|am|have|have got) (recently |newly |officially |finally )*divorced\b|got a divorce\b
divorced=(have )?divorced(?=$| (last|in|on|this|after|a|two)\b)
divorced=(have )?(finali[sz]ed (my|our|their|the) divorce|signed (my|our|their|the) divorce papers)\b
widowed=(be|was|have been) widowed\b|be a widow(er)?\b|lost (my|their) (wife|husband)\b(?! (in the|in a|at|for)\b)
broken up=(have )?(called|broke|broken) off (the|my|our|their) (engagement|wedding|relationship)\b
broken up=(have )?called it (off|quits)\b
broken up=(have )?(broke|broken|ended|cut) (it|things)( off)?\b(?= with (my|their|(?-i:[A-Z]))|$| (last|this|yesterday)\b)
broken up=(have )?(broke|broken|split) up\b(?! (the|a|an|to|into|in two|some)\b)
broken up=(have )?split(?=$| (last|in|on|after|this|for good|from (my|their)|a (week|month))\b)
broken up=(have )?(left|dumped|divorced) (my|their) (husband|wife|boyfriend|girlfriend|partner|fiancé|fiancée)(?=$|,
    | (last|this|in (january|february|march|april|may|june|july|august|september|october|november
    |december)|for|yesterday|on|after|and|today)\b)
broken up=(have )?dumped (?-i:[A-Z]\w+)$
broken up=(was|got|have been) dumped\b
broken up=(have )?stopped (dating|seeing) (each other|(?-i:[A-Z]))
broken up=(have )?(parted ways|gone (our|their) separate ways|went (our|their) separate ways)
    (?! with (?!(my|their) (boyfriend|girlfriend|partner|wife|husband|fiancé)))
broken up=(have )?ended (things|(my|our|their|the) (relationship|engagement|marriage))\b
"""
ENDED_BY = {
    "single": words("relationship engaged married reunited"),
    "relationship": words("single"),
    "engaged": words("single"),
    "married": words("single engaged relationship divorced widowed separated reunited"),
    "separated": words("married relationship engaged reunited"),
    "divorced": words("married separated engaged reunited"),
    "widowed": words("married"),
    "broken up": words("relationship engaged married reunited"),
    "reunited": words("single separated") | {"broken up"},
}
"""Which statuses a new one makes untrue. Others may be true together: divorced, and in a relationship."""
MEATLESS = words("vegan vegetarian pescatarian plant-based")
OFTEN_SEVERAL = words(
    "email school university college major office team business landlord company car boyfriend girlfriend partner fiancé fiancée"
) | {
    "phone number",
    "time zone",
}
"""Attributes of which a person may have two: another value replaces one only if it is called new."""
DIETS = words("vegan vegetarian pescatarian carnivore omnivore meat")
"""Diets of which a person has one; others, such as keto, go with these."""

"""The predicates that say where and as what somebody works, begins to work, or no longer works."""

from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.single_values import NAME
from cloister.models.rules.tables.words import OCCUPATION

_JOB = r"(?:job|position|role|gig|post|contract|internship|residency|apprenticeship)"
_NEW = r"(?:[\w'-]+ ){0,3}?"
WORKS_AT = (
    r"(?:(?:work|be working|be employed|contract|be contracting|consult|be consulting)"
    r"|(?:have worked|have been working|have been employed)(?=.* (?:for \w+ (?:\w+ )?(?:years?|months?|weeks?)|since)))"
    r" (?:(?:full|part)[- ]time )?(?:remotely )?(?:over )?(?:at|for|by|with)"
)
ENGAGED_BY = (
    r"(?:be (?:back |now )?(?:at|with)|(?:teach|be teaching|lecture|freelance|be freelancing|be interning|nurse|cook|practise"
    r"|practice)"
    r" (?:at|for|with)|be on the (?:payroll|staff) (?:at|of))"
)
"""Said of a new employer only if the memory says that it is a change: "is at Acme now"."""
HAS_BEEN_AT = r"have been (?:at|with)"
JOINED = (
    rf"(?:(?:have )?(?:joined|(?:started|begun|began)(?: back| out| over)?(?: working| work| (?:a|an|my"
    rf"|their) {_NEW}{_JOB})? (?:at|for|with|in)"
    r"|signed (?:on |up )?with|jumped ship to|(?:went|gone|come|came) (?:over |back )?to work (?:for|at)"
    r"|(?:went|gone|moved|jumped|defected) (?:over|across|on) to|(?:went|gone) back to working (?:for|at)"
    rf"|(?:got|took|taken|accepted|landed|found|scored|secured|won) (?:a|an|my|the|their) {_NEW}{_JOB} (?:at|with|for)"
    r"|(?:accepted|took|taken) (?:an|the|their) (?:\w+ )?offer (?:from|by|of|at)|made the (?:jump|switch|leap) (?:over )?to)"
    r"|(?:was|got|have been) (?:hired|poached|recruited|headhunted|taken on|employed|snapped up) (?:by|at)"
    r"|start (?:work |working |my new job |a new job )?(?:at|with|for)(?=.* today\b)"
    rf"|have (?:a|an) new {_NEW}{_JOB} (?:at|with|for)"
    r"|be starting (?:work |a new job |my new job |their new job |a job )?(?:at|with|for)"
    r"(?=.* (?:today|now|this (?:week|morning|month|monday))\b)"
    r"|had (?:my|their) first (?:day|week|shift) (?:at|with|working for|working at)) (?:the (?:team|crew|folks|people) (?:at|of) )?"
)
OUT_OF_WORK = r"""
had (my|their) (last|final) (day|shift|week)(?= (at|with) (the|a|work)\b|$)
(have )?(quit|left|lost|packed in|jacked in|chucked in|gave up|given up|walked away from) (my|their) (\w+ )?(job|position)\b
(have )?quit(?=$| (last|yesterday|today|on|this|in (january|february|march|april|may|june
    |july|august|september|october|november|december))\b)
(have )?(resigned|retired)\b(?! (to bed|my|their|the|an?)\b)
(have )?(switched|changed) (jobs|employers|companies)\b
(was|got|have been) (fired|laid off|made redundant|let go|sacked|dismissed|axed|canned)\b(?! (early|of)\b)
got the (sack|boot|axe|chop)\b
be (unemployed|retired|between jobs|out of (work|a job)|jobless|looking for (a (new )?job|work)|job[- ]hunting)\b
(have )?(took|taken|gone into|went into|entered) (early )?retirement\b
"""
SELF_EMPLOYED = r"""
run (my|our|their) own (\w+ ){0,2}?(company|business|firm|practice|shop|studio|agency|startup|restaurant|bakery|salon)\b
be (self-employed|freelancing|a freelancer|freelance|an entrepreneur)\b
work (for (themselves|myself|ourselves)|freelance)\b|freelance(?! for)\b
(have )?(went|gone|turned|became|become) (freelance|self-employed|solo|independent)\b
(have )?(started|founded|launched|opened|set up) (my|our|their) own (\w+ ){0,2}?(company|business|firm|practice|shop|studio|agency
    |startup|start-up|consultancy|restaurant|bakery|salon|brand|café|cafe)\b
"""
LEFT = (
    r"(?:(?:have )?(?:left|quit|resigned from|stopped working (?:at|for)|walked (?:out of|away from|out on)|parted ways with"
    r"|retired from|had (?:my|their) (?:last|final) (?:day|week|shift) (?:at|with))|be (?:done (?:with|at)|out of|gone from"
    r"|finished (?:with|at)))"
)
NO_LEAVING = (
    r" (?:at|early|late|this (?:morning|evening|afternoon)|today|tonight|yesterday|around|before|after|by|with|for (?:the"
    r"|lunch|dinner|a)|on time|in (?:a|the))\b"
)
"""After "left Acme": for the day, and not for good."""
FORMER_AND_NEW = (
    rf"(?:have )?(?:left|quit|swapped|traded|exchanged|dropped|ditched|gave up) (?P<former>{NAME}) for (?P<value>{NAME})"
    rf"|(?:(?:have )?(?:switched|transferred|changed|jumped|defected|made the (?:jump|switch|leap|move|transition)|gone|went))"
    rf" (?:over )?from (?P<former_first>{NAME}) (?:over )?to (?P<value_second>{NAME})"
)

WORKS_AS = r"(?:(?:work|be working|be employed|have worked)(?: in [\w ]{2,30})? as)"
BECAME = (
    r"(?:(?:have )?(?:became|become|retrained as|qualified as|turned into)|(?:have )?(?:went|gone) back to being"
    r"|have just become)"
)
BEGAN_AS = (
    r"(?:(?:have )?(?:started|began|begun)(?: working| work| (?:a|my|their) (?:new )?(?:job|role|position))? as"
    r"|(?:have )?(?:took|taken|stepped) (?:over|up) as|(?:have )?(?:took|taken|got|landed|accepted|found|started)"
    rf" (?:a|an|the) {_NEW}(?:job|role|position|post|gig) as|had (?:my|their) first (?:day|week) as)"
)
PROMOTED = (
    r"(?:(?:was|got|have been) (?:promoted|appointed|elevated|bumped up|moved up|bumped) (?:to(?: be)?|as)(?! speed)"
    r"|(?:was|got|have been) appointed"
    r"|(?:was|got|have been) (?:made|named|elected)(?= (?:an? |the |head |partner|chief|director|manager|lead|senior|team|vice|"
    r"principal|president|captain|chair))|(?:have )?(?:moved|stepped) up to)"
)
MADE = r"(?:was|got|have been) (?:made|named|elected)"
GOT_JOB = (
    r"(?:have )?(?:(?:got|landed|took|taken|accepted|started|scored|won) (?:the|that|my|their)|(?:moved|stepped"
    r"|transitioned|switched|slid) (?:in)?to (?:the|an?|my|their)) (?:new )?(?P<value>(?:[\w'/&+-]+ ){1,4}?)(?:job|role"
    r"|position|post|gig)(?= (?:at|in|with|on|last|this)\b|$)"
)
"""A job by its title: "got the head chef job"."""
MADE_RANK = (
    r"(?:have )?made (?P<value>(?:senior |equity |junior |vice )?(?:partner|associate|director|manager|captain|major|colonel"
    r"|sergeant"
    r"|lieutenant|general|principal|president|professor|head chef|team lead|shift lead|supervisor|vp))(?= (?:at|in|this|last"
    r"|on)\b|$)"
)
STOPPED_BEING = (
    r"(?:(?:have )?(?:stopped|quit|gave up|given up)(?: being| working as| my job as| their job as)|(?:have )?(?:stepped"
    r"|stood) down (?:as|from being))"
    r" (?:an? |the )?"
)
FIELDS = (
    "management|product management|project management|product|design|ux|teaching|sales|marketing|consulting|research|academia"
    "|nursing"
    "|engineering|software engineering|development|software development|web development|data science|law|medicine|finance"
    "|accounting"
    "|recruiting|recruitment|hr|human resources|politics|journalism|banking|hospitality|retail|real estate|operations"
    "|customer support"
    "|support|security|cybersecurity|analytics|education|social work|coaching|writing|translation|photography|music|construction"
    "|farming|logistics|publishing|advertising|pr|testing|qa|administration|childcare|catering"
)
ENTERED_FIELD = (
    rf"(?:have )?(?:moved|switched|transitioned|went|gone|pivoted|changed) (?:over )?(?:from (?P<former>{FIELDS}) )?(?:in)?to"
    rf" (?P<value>{FIELDS})(?= (?:at|in|this|last|on)\b|$)"
)
LEFT_FIELD = (
    rf"(?:have )?(?:left|quit|gave up|given up|stopped) (?P<value>{FIELDS})(?= (?:for good|this|last|in|on|after)\b|$)"
)
TITLE = (
    rf"(?:{OCCUPATION}|head|lead|team lead|tech lead|cfo|coo|cmo|cio|cpo|vp|president|chair|chairman|chairwoman|principal|owner"
    rf"|boss"
    r"|captain|deputy|headteacher|headmaster|headmistress|associate|rep|representative|specialist|coordinator|executive|agent"
    r"|advisor|adviser|strategist|trainee|dispatcher|employee|inspector|warden|ranger|partner|officer|sergeant"
    r"|conductor|steward|stewardess|guard|attendant"
    r"|lieutenant|postwoman|mayor|treasurer|marketer|recruiter|buyer|tester|dean|registrar|controller|buyer"
    r"|clinician|practitioner|\w+(?:ologist|ographer|ician|iatrist|wright|smith|master|keeper|monger))"
)
"""Words that end the title of a job. Many are other things too, so the memory must say that it is a change."""
NO_TITLES = words(
    "member mother father mom mum dad parent aunt uncle grandmother grandfather grandparent homeowner citizen resident fan patient "
    "believer vegetarian vegan owner widow widower godmother godfather bird owl person morning smoker non-smoker ex-smoker drinker "
    "partner"
)
"""What people become besides their job."""
FOR_A_LIVING = r"(?:be )?(?P<value>[a-z]+ (?:[\w'-]+ ){0,4}?)for a living$"
PRAISE = words("good great decent terrible bad awful amateur keen avid passionate hobby home better excellent mediocre")
VENUES = words(
    "ikea starbucks walmart costco target tesco lidl aldi mcdonald's subway sainsbury's asda carrefour kfc heathrow jfk gatwick"
)
"""Where one is mostly as a customer: "I'm at Ikea now"."""
OFTEN_JOBS = words(
    "cook baker photographer painter writer illustrator carer caregiver potter gardener coach model artist journalist"
)
"""What many do for pleasure, but who say that they became one mostly work as one."""

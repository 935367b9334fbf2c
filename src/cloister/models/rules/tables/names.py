"""Names whose type is known without any context: given names, places and brands. Each list is of common knowledge, not complete.

Names that are as often something else are left out: Paris and Jordan are people and places, Max and Luna are mostly pets.
"""

from cloister.models.rules.tables.notation import words


def _names(listed: str) -> frozenset[str]:
    """The listed names in lower case; "_" in a name is a space."""
    return frozenset(name.replace("_", " ") for name in words(listed))


GIVEN_NAMES = _names(
    "aaron abdul abigail adam adrian ahmed aisha alan albert alejandro alex alexander alexandra alfred ali alice alicia alison "
    "allison alma amanda amelia amir amy ana anastasia anders andre andrea andreas andrei andrew andy angela anita ann anna "
    "anne annie anthony anton antonio arjun arthur ashley astrid audrey barbara beatrice ben benjamin bernard beth bianca bill "
    "björn bob boris brandon brenda brian bruce bryan caitlin camille carla carlos carmen carol caroline catherine cecilia "
    "chen chloe chris christian christina christine christopher cindy claire clara claudia colin connor craig cristina cynthia "
    "dan daniel daniela danielle dave david deborah denise dennis derek diana diane diego dmitri dominic donald donna dorothy "
    "doug douglas duncan ed eddie edgar eduardo edward edwin eileen elaine elena eleanor elias elif elisabeth elizabeth ella "
    "ellen elsa emily emma eric erik erin esther ethan eva evan evelyn fatima felipe felix fernando fiona frances francesca "
    "francesco francis frank fred frederick gabriel gabriela gareth gary gavin george gerald gina giovanni giulia giuseppe "
    "gloria gordon graham greg gregory greta guillaume gustav hannah hans harold harriet hassan heather hector heidi helen "
    "helena henrik henry hugo ian ibrahim igor ingrid irene isaac isabel isabella isabelle ivan jacob jacqueline james jamie "
    "jan jane janet janice jason javier jean jeff jeffrey jenna jennifer jenny jeremy jerome jessica jill jim joan joanna joe "
    "joel johan johanna johannes john johnny jon jonas jonathan jorge jose joseph josh joshua joyce juan judith judy julia "
    "julian juliana julie julien justin karen karim karl kate katherine kathleen kathryn katie keith kelly ken kenneth kerry "
    "kevin khalid kim kiran kirsten klaus kristen kristin kurt kyle lars laura lauren laurent lawrence leah leila lena leonard "
    "leonardo leslie liam linda lisa liz logan lorenzo louis louisa louise lucas lucia lucy luis luke magnus manuel marc marcel "
    "marco marcus margaret maria marie marion mario mark marko marta martha martin martina mary mateo mathias matt matteo "
    "matthew maureen maya megan mehmet melanie melissa michael michelle miguel mike mikhail miranda miriam mohammed monica "
    "monika nadia naomi natalia natalie natasha nathan neal neil nicholas nick nicola nicolas nicole nigel nikita nikolai nils "
    "nina noah nora olaf olga omar pablo pamela patricia patrick paul paula pavel pedro peter petra phil philip philippe pierre "
    "priya rachel rafael rahul raj ralph ramon raymond rebecca renata rene ricardo richard rita rob robert roberto rodrigo roger "
    "roland ronald rosa rosemary roy russell ruth ryan samantha samir samuel sandra sanjay sara sarah scott sean sebastian sergei "
    "sergio shannon sharon shaun sheila shirley simon simone sofia sonia sophia sophie stefan stefano stephanie stephen steve "
    "steven stuart sue susan suzanne sven sylvia tamara tania tanya tara tatiana ted teresa terry thea theo theodore theresa "
    "thomas tim timothy tina todd tom tomas tony tracy trevor ulrich ursula valentina valerie vanessa vera veronica vicky victor "
    "vikram vincent vladimir walter wanda wendy werner will william wolfgang xavier yan yasmin yolanda yuki yusuf yvonne zoe"
)
PEOPLE = _names(
    "bach mozart beethoven chopin vivaldi debussy tchaikovsky brahms shakespeare tolstoy dostoevsky hemingway picasso monet "
    "rembrandt einstein newton darwin plato aristotle socrates gandhi beyoncé beyonce rihanna shakira eminem"
)
LOCATIONS = _names(
    # Countries, and parts of the world.
    "afghanistan albania algeria angola argentina armenia australia austria azerbaijan bangladesh belarus belgium bolivia bosnia "
    "botswana brazil bulgaria cambodia cameroon canada chile china colombia congo costa_rica croatia cuba cyprus czechia denmark "
    "ecuador egypt england estonia ethiopia europe fiji finland france germany ghana greece greenland guatemala haiti honduras "
    "hungary iceland indonesia iran iraq ireland italy jamaica japan kazakhstan kenya korea south_korea north_korea kuwait laos "
    "latvia lebanon libya lithuania luxembourg madagascar malaysia maldives malta mauritius mexico moldova mongolia montenegro "
    "morocco mozambique myanmar namibia nepal netherlands new_zealand nicaragua nigeria norway oman pakistan panama paraguay "
    "peru philippines poland portugal qatar romania russia rwanda saudi_arabia scotland senegal serbia singapore slovakia "
    "slovenia somalia south_africa south_america north_america spain sri_lanka sudan sweden switzerland syria taiwan tanzania "
    "thailand tunisia uganda ukraine united_kingdom united_states uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe "
    "uk usa u.s. u.s.a. uae scandinavia middle_east southeast_asia antarctica "
    # States and provinces.
    "alabama alaska alberta arizona arkansas british_columbia california colorado connecticut delaware florida hawaii idaho "
    "illinois indiana iowa kansas kentucky louisiana maine manitoba maryland massachusetts michigan minnesota mississippi "
    "missouri montana nebraska nevada new_hampshire new_jersey new_mexico new_york north_carolina north_dakota nova_scotia ohio "
    "oklahoma ontario oregon pennsylvania quebec rhode_island saskatchewan south_carolina south_dakota tennessee texas utah "
    "vermont washington_dc west_virginia wisconsin wyoming bavaria catalonia provence tuscany andalusia normandy sicily sardinia "
    "crete bali tenerife corsica brittany cornwall yorkshire patagonia "
    # Cities.
    "amsterdam ankara antwerp athens atlanta auckland bangkok barcelona beijing belfast belgrade bergen berlin bilbao "
    "birmingham bogota bologna boston bratislava brisbane bristol brussels bucharest budapest buenos_aires calgary cambridge "
    "cape_town cardiff chicago cincinnati cleveland cologne copenhagen dallas delhi new_delhi denver detroit dubai dublin "
    "düsseldorf dusseldorf edinburgh edmonton frankfurt geneva genoa ghent glasgow gothenburg granada graz hamburg hanoi "
    "havana helsinki hiroshima hong_kong honolulu houston istanbul jakarta jerusalem johannesburg karachi kathmandu kiev kyiv "
    "krakow kuala_lumpur kyoto las_vegas leeds leipzig lima lisbon ljubljana london los_angeles lyon madrid malmö manchester "
    "manila marrakech marseille melbourne memphis miami milan milwaukee minneapolis montreal moscow mumbai munich nairobi "
    "naples nashville new_orleans new_york_city nice nottingham osaka oslo ottawa oxford perth philadelphia pittsburgh porto "
    "portland prague reykjavik riga rio_de_janeiro rome rotterdam sacramento salt_lake_city salzburg san_antonio san_diego "
    "san_francisco san_jose sao_paulo sarajevo seattle seoul seville shanghai sheffield shenzhen stockholm strasbourg "
    "stuttgart sydney taipei tallinn tampa tbilisi tehran tel_aviv the_hague tokyo toronto toulouse tunis turin utrecht "
    "valencia vancouver venice vienna vilnius warsaw wellington zagreb zurich zürich nyc "
    # Mountains, rivers and the like.
    "alps andes himalayas pyrenees rockies sahara everest mount_everest kilimanjaro niagara grand_canyon yosemite yellowstone "
    "mediterranean caribbean atlantic pacific pacific_northwest brooklyn manhattan hollywood silicon_valley midwest west_coast "
    "east_coast bay_area san_francisco_bay_area times_square"
)
ORGANISATIONS = _names(
    "adidas aldi amd asics boeing bosch disney google ibm ikea intel lego lidl logitech microsoft nasa netflix nike nintendo "
    "nvidia openai oracle pepsi philips pixar puma red_cross reebok rei salesforce samsung sennheiser shopify "
    "siemens sony spacex starbucks target tesco toyota honda trader_joe's uber unicef under_armour united_nations volkswagen "
    "walmart weight_watchers whole_foods who yale harvard stanford mit nba nfl fifa costco ebay etsy airbnb paypal dell lenovo "
    "bose ferrari porsche bmw audi tesla hyundai nissan mazda"
)
PRODUCTS = _names(
    "airpods android chatgpt discord dropbox duolingo evernote excel facebook fitbit gatorade github gmail instagram ipad iphone "
    "kindle linkedin linux macbook minecraft mustang notion nutella photoshop playstation pinterest pokemon powerpoint prius "
    "python javascript reddit roku roomba slack snapchat spotify steam strava telegram tiktok tinder trello twitch twitter "
    "wechat whatsapp wikipedia windows xbox youtube zoom fortnite overwatch valorant minecraft civic corolla camry"
)
BRANDS_OF_THINGS = _names(
    "apple amazon ford honda toyota tesla bmw audi porsche ferrari jeep subaru mazda nissan hyundai kia volvo volkswagen fender "
    "gibson yamaha canon nikon sony samsung google dell lenovo asus hp bose sennheiser nintendo microsoft logitech garmin"
)

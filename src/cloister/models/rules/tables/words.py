"""Word lists of the rules, each a regular expression: relations, animals, possessions, occupations, languages, …"""

from cloister.models.rules.tables.notation import word_list

RELATION = word_list(
    "mother mom mum mommy father dad daddy parents sister brother sisters brothers siblings sibling twin son sons daughter "
    "daughters child children kid kids baby husband wife spouse partner boyfriend girlfriend fiancé fiancée fiance fiancee "
    "grandmother grandma granny grandfather grandpa grandparents grandson granddaughter grandchildren aunt uncle cousin "
    "cousins niece nephew nieces nephews stepmother stepmom stepfather stepdad stepson stepdaughter mother-in-law "
    "father-in-law sister-in-law brother-in-law in-laws godson goddaughter godmother godfather ex-husband ex-wife family "
    "best_friend best_mate roommate roommates flatmate flatmates housemate neighbour neighbor mentor"
)
PEOPLE = word_list(
    "friend friends colleague coworker co-worker boss manager teacher professor doctor therapist coach tutor landlord classmate"
)
PET = word_list(
    "dog dogs puppy puppies pup cat cats kitten kittens rabbit rabbits bunny hamster guinea_pig guinea_pigs parrot budgie "
    "bird birds fish goldfish turtle turtles tortoise snake lizard gecko horse horses pony chickens chicken hens goat goats "
    "sheep cow cows pig pigs bees pet pets ferret rats greyhound labrador retriever poodle beagle terrier corgi shepherd "
    "spaniel collie dachshund husky bulldog"
)
THING = word_list(
    "car cars truck van motorbike motorcycle bike bicycle bikes scooter boat caravan camper house flat apartment condo "
    "cottage cabin farm garden allotment greenhouse balcony pool garage studio workshop piano guitar guitars violin cello "
    "drum_kit keyboard synthesizer telescope camera cameras drone laptop macbook computer desktop pc tablet ipad phone "
    "iphone smartwatch printer 3d_printer console playstation xbox kindle server raspberry_pi collection tattoo tattoos "
    "library_card beehives beehive aquarium record_player turntable sewing_machine subscription membership driving_licence "
    "driver's_license drivers_license passport visa mortgage pension blog podcast newsletter website channel scar piercing "
    "motorhome canoe kayak surfboard snowboard treadmill"
)
MINE = word_list(
    "car truck van motorbike motorcycle bike boat house flat apartment cottage garden laptop computer phone camera guitar "
    "piano violin home_office setup collection instrument watch telescope bicycle tablet server"
)
CONDITION = word_list(
    "diabetes asthma adhd add autism epilepsy arthritis migraines migraine eczema psoriasis celiac coeliac celiac_disease "
    "coeliac_disease crohn's_disease ibs anxiety depression ptsd ocd insomnia dyslexia dyscalculia tinnitus sciatica anemia "
    "anaemia hypertension high_blood_pressure cancer lupus ms multiple_sclerosis parkinson's hypothyroidism endometriosis "
    "pcos scoliosis vertigo allergy allergies intolerance pacemaker prosthetic_leg disability condition disorder syndrome "
    "hay_fever glaucoma chronic_pain chronic_fatigue sleep_apnea heart_condition"
)
TRAIT = word_list(
    "vegan vegetarian pescatarian teetotal lactose_intolerant gluten_intolerant gluten-free diabetic asthmatic "
    "colour-blind color-blind colour_blind color_blind colorblind deaf blind hard_of_hearing short-sighted near-sighted "
    "nearsighted shortsighted autistic dyslexic epileptic anaemic anemic bipolar neurodivergent immunocompromised celiac "
    "coeliac disabled sober lactose-intolerant hypertensive insomniac claustrophobic asexual anemic"
)
STATUS = word_list(
    "left-handed right-handed ambidextrous bilingual trilingual gay lesbian bisexual queer trans transgender nonbinary "
    "non-binary introverted extroverted religious atheist agnostic catholic jewish muslim christian buddhist hindu orthodox "
    "protestant sikh"
)
OCCUPATION = word_list(
    "nurse doctor surgeon dentist vet chef cook baker barista waiter waitress lawyer solicitor barrister judge paralegal "
    "engineer developer programmer designer architect teacher schoolteacher professor lecturer tutor student undergrad "
    "graduate phd postdoc scientist researcher biologist chemist physicist mathematician statistician analyst accountant "
    "bookkeeper consultant manager director ceo cto founder co-founder entrepreneur freelancer contractor electrician "
    "plumber carpenter mechanic welder builder bricklayer roofer painter plasterer gardener landscaper farmer fisherman "
    "sailor pilot flight_attendant driver courier postman policeman police_officer firefighter paramedic soldier veteran "
    "officer civil_servant politician journalist reporter editor writer author novelist poet translator interpreter "
    "copywriter blogger photographer videographer filmmaker director actor actress comedian dancer musician singer "
    "songwriter composer drummer guitarist pianist violinist cellist bassist producer dj artist illustrator sculptor "
    "potter animator tailor seamstress hairdresser barber beautician therapist psychologist psychiatrist counsellor "
    "counselor social_worker caregiver carer nanny babysitter childminder librarian archivist historian curator "
    "pharmacist physiotherapist midwife radiologist optician coach trainer instructor athlete referee salesman "
    "saleswoman salesperson realtor estate_agent broker banker trader economist secretary receptionist assistant "
    "administrator admin clerk cashier security_guard janitor cleaner housekeeper homemaker housewife stay-at-home_mom "
    "stay-at-home_mum stay-at-home_dad intern apprentice volunteer retiree pensioner priest pastor nun monk rabbi imam "
    "model stylist technician operator supervisor foreman planner surveyor geologist astronomer botanist ecologist "
    "zoologist sysadmin data_scientist beekeeper butcher florist jeweller brewer winemaker bartender sommelier "
    "veterinarian hygienist dietitian nutritionist trucker tiler glazier locksmith actuary auditor underwriter recruiter marketer "
    "machinist dispatcher lifeguard concierge orthodontist optometrist chiropractor osteopath masseuse forester miner detective "
    "prosecutor diplomat headteacher cameraman care_worker factory_worker warehouse_worker construction_worker support_worker "
    "youth_worker sales_rep vet_tech "
    "hobbyist gamer vegetarian vegan pescatarian teetotaller smoker non-smoker christian catholic muslim buddhist atheist "
    "twin widow widower mom mum mother dad father parent grandmother grandfather grandparent stepmother stepfather "
    "godmother godfather homeowner landlord beginner morning_person night_owl dog_person cat_person people_person early_bird "
    "introvert extrovert citizen immigrant refugee expat native_speaker perfectionist minimalist scout survivor"
)
BUSINESS = word_list(
    "bakery shop store business company cafe café restaurant farm studio agency blog podcast channel practice club group "
    "charity startup start-up school hotel bar pub salon gym nonprofit non-profit newsletter clinic hostel bookshop bookstore "
    "gallery brewery vineyard meetup firm consultancy label theatre nursery kennel guesthouse"
)
OPUS = word_list(
    "phd thesis dissertation master's masters book novel memoir degree album screenplay documentary bachelor's startup "
    "start-up podcast cookbook"
)
SPORT = word_list(
    "football soccer basketball tennis badminton squash rugby cricket hockey volleyball golf chess baseball handball darts "
    "poker bridge video_games board_games padel pickleball lacrosse softball table_tennis ping_pong dungeons_and_dragons d&d"
)
LANGUAGE = word_list(
    "English French German Spanish Portuguese Italian Dutch Polish Russian Ukrainian Czech Slovak Hungarian Romanian Greek "
    "Turkish Arabic Hebrew Farsi Persian Hindi Urdu Bengali Tamil Telugu Punjabi Mandarin Cantonese Chinese Japanese Korean "
    "Vietnamese Thai Tagalog Malay Indonesian Swahili Swedish Norwegian Danish Finnish Icelandic Irish Welsh Catalan Basque "
    "Croatian Serbian Bulgarian Latin Esperanto english french german spanish portuguese italian japanese korean chinese "
    "arabic russian dutch sign_language Yoruba Igbo Amharic Afrikaans Zulu"
)

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'.-]*"
NAMES = rf"{_NAME}(?: {_NAME}){{0,3}}"
"""One to four capitalised words; put it into `(?-i:…)` inside a pattern that ignores case."""

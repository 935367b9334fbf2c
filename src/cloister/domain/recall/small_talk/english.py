"""How English small talk is built, in the notation of `grammar.py`."""

ENGLISH = """
ADDR = everyone|everybody|all|friend|friends|buddy|pal|mate|bro|dude|man|guys|folks|team|sir|madam|maam|sunshine|love
  |honey|darling|sweetheart|dear|there|you|again|bot|robot|assistant|ai|boss|chief|champ|partner|people|yall|yourself|girl
  |stranger
VOCATIVE = ADDR|NAME|my (friend|dear|love|man|favourite ai|favorite ai)|(old|dear) (friend|pal|chap|man)|you (all|two|lot
  |guys|too)
INT = so|very|really|such|pretty|quite|too|just|absolutely|totally|truly|incredibly|super|extremely|most|rather|damn
  |genuinely|honestly|always|exactly|amazingly|both|insanely|unbelievably|especially|simply|particularly|awfully|terribly
  |actually
GOOD = great|good|nice|kind|sweet|helpful|useful|funny|amazing|awesome|wonderful|brilliant|excellent|fantastic|lovely
  |perfect|quick|quicker|fast|faster|smart|clever|thoughtful|patient|generous|cool|fun|incredible|outstanding|impressive
  |interesting|hilarious|fab|fabulous|marvellous|marvelous|delightful|charming|cute|adorable|superb|stellar|splendid
  |terrific|true|fair|beautiful|gorgeous|neat|sharp|witty|reassuring|comforting|encouraging|touching|clear|easy|fine
  |alright|okay|ok|better|best|reliable|efficient|considerate|polite|understanding|supportive|friendly|lucky|unbelievable
  |phenomenal|magnificent|exciting|relaxing|peaceful|pleasant|cosy|cozy|productive|well|swell|blessed|happy|safe|restful
  |merry|warm|quiet|special|magical
BAD = sad|unfortunate|terrible|awful|bad|rough|tough|annoying|frustrating|boring|weird|strange|odd|crazy|wild|silly|scary
  |disappointing|unlucky|ridiculous|surprising|mad|insane|mean|harsh|rude|cheesy|lame
KIND = GOOD|BAD
PRAISE = star|legend|genius|angel|hero|lifesaver|gem|treasure|sweetheart|darling|champ|champion|rockstar|wizard|saint|pro
  |marvel|joy|blessing|gift|delight|riot|hoot|keeper|godsend|dear|peach|best|master|expert|friend|help|helper|listener
  |assistant|one|teacher|companion|machine|bot|robot|sport|comedian|pal|mate|buddy|person|goat|ace|boss|beauty|diamond
  |smartypants|charmer
DAY = morning|afternoon|evening|night|day|weekend|week|holiday|holidays|monday|tuesday|wednesday|thursday|friday|saturday
  |sunday|break|vacation|lunch|dinner|summer|winter|spring|autumn|christmas|easter|halloween|thanksgiving|year|month
WHEN = today|tonight|now|lately|recently|nowadays|already|yet|then|again|too|though|anyway|tomorrow|later|earlier
  |yesterday
AT = WHEN|so far|these days|right now|at the moment|as well|(this|last|all|all this) (morning|afternoon|evening|week
  |weekend|day|night)|this fine (morning|day|evening|afternoon)|by now|for (now|today|tonight)|at last|after all|on this
  fine (day|morning)|first thing|to be honest|tbh
IS = is|s|are|was|were
IT = that|this|it|thats|its|that was|that is|this is|this was|it was|it is|thats been|its been|it has been|that has been
  |all that
YOURE = youre|you are|u r|youve been|you have been|you were|arent you|you sure are|you really are|you truly are|you always
  are
IM = im|i am|i feel|im feeling|i am feeling|im doing|i am doing|ive been|i have been|doing|feeling|still|i was
LOT = so much|very much|a lot|lots|a ton|tons|a million|a bunch|heaps|loads|kindly|indeed|ever so much|in advance|once
  again|once more|again|anyway|all the same|plenty|a thousand times|so very much|a thousand|a great deal|big time|a whole
  lot|everyone|immensely|a little|a bit|more than you know|from the bottom of my heart|really|as always|either way
  |regardless|no end
THING = help|time|chat|talk|laugh|patience|answer|answers|reply|replies|advice|tip|tips|info|information|update
  |explanation|support|suggestion|suggestions|feedback|reminder|kindness|company|effort|efforts|work|assistance
  |conversation|response|recommendations|recommendation|compliment|encouragement|quick reply|words|understanding
  |clarification|input|insight|insights|idea|ideas|heads up|welcome|warm welcome|offer|guidance|service|attention|concern
  |thoughts|greetings|wishes|quick response|hard work|details|joke|jokes|story|stories|smile|hug|distraction|lesson
  |confirmation|honesty|question|correction|inspiration|motivation|insight|trouble
DOING = helping|listening|asking|answering|waiting|explaining|clarifying|sharing|checking|trying|chatting|talking|caring
  |coming|staying|understanding|replying|responding|clearing|reminding|telling|showing|confirming|teaching|joining
  |supporting|advising|stopping|assisting|noticing|cheering|being|letting|bearing|putting|getting|walking|reassuring
  |entertaining|pointing
ME = me|us|it|that|this|things|you|everything|them
FOR = everything|(that|this|it|all)|all (of it|of that|of this|that|this|you do|youve done|youre doing|the trouble)|asking
  after me|[all|both|the|your|all your|all the|all of your|any|such|a] [INT] [KIND] THING [and [your|the] THING] [AT]|what
  you (do|did)|DOING [me|us|you|to me|with me|up|with us] [AT]|DOING [ME] [out|through|up|know|company|back|in] [with (ME)
  |AT|so well|so quickly]|being [INT] [a|an|my|there|here] [INT] [KIND] [PRAISE] [with me|to me|for me|AT|about it]|your
  (help|time|patience) and [your] THING|always (being there|listening|helping)|nothing|coming back [to me]|getting back to
  me|making (me (smile|laugh)|my day|it easy)|putting up with me|bearing with me|the (ride|memories)|letting me (know|vent
  |ramble)|walking me through (ME)|pointing (ME) out

HELLO = hi|hello|hey|thanks|thank you|good (morning|night|evening|day)|goodbye|bye|sorry|good luck|i love you|[a] big
  thank you|thanks LOT|thank you LOT|how much i appreciate you|happy birthday

GREETING = (hi|hello|hey|heya|hiya|hullo|helloo|hellooo|heyy|heyyy|howdy|yo|greetings|ahoy|aloha|hallo|oi|salutations
  |welcome|gday|hii|hiii|hiiii|hai|wassup) [hi|hello|hey] [again|back|there|and welcome] [VOCATIVE] [of mine]|[a|and a|a
  very|and] [very] good (morning|afternoon|evening|day|night) [again|there|once again] [to you [too|all|as well]|VOCATIVE]
  |(morning|afternoon|evening|night|goodnight|goodmorning|mornin|gm|gn|night night|nighty night) [again|all|to you
  |VOCATIVE]|top of the morning [to you]|happy (DAY|new year|birthday|friday|[belated] birthday|new week|first of the
  month) [again] [to you [too]|to you all|VOCATIVE]|merry (christmas|xmas) [to you|VOCATIVE|to all] [and a happy new year]
  |rise and shine|wakey wakey|[its] [INT] (good|nice|great|lovely|wonderful|happy) to (be back|be here|have you [back|here
  |around]|see you [again|too]|meet you [too|again]|hear from you [again]|talk [to you] [again]|chat [with you] [again]|be
  talking to you) [AT] [VOCATIVE]|[its been] [a] (long|while) [time|no] [no] [see|speak|talk|chat] [VOCATIVE]|its been (a
  while|ages|too long|forever)|(anybody|anyone|is (anybody|anyone|someone)|are you|you|u) [still] (home|there|around|here
  |awake|up|with me|listening) [AT] [VOCATIVE]|its [only|just] me [again]|(guess|look) (whos|who is) back|im (back|home
  |here|up|awake|online|around) [AT]|here i am [again]|remember me|(just|only) (popping|dropping|stopping|passing|swinging
  |checking) (in|by) [to (say (HELLO)|check [in] on you)] [AT]|[i] [just|only] (wanted|want|came|come|would like|wish)
  [here] to (say (HELLO)|chat|talk|check [in] on you|thank you [AT]|apologise|apologize)

WELL = [and|so|well] how (are|r|have) (you|u|ya|things|we|yall|you all) [all] [been] [doing|feeling|holding up|holding on
  |keeping|getting on|getting along|coping|faring|hanging|going|today|keeping up] [AT] [with you|over there|on your (end
  |side)] [with (everything|yourself)]|how have (you|things|ya) been [doing|keeping|feeling|going|treating you] [with you]
  [AT]|how [you|ya|u] (doing|been|doin|feeling|goes)|(hows|how is|hows about|how was|how were|how are|howre|how has|how
  did) (it|things|everything|life|all|stuff|tricks|you|yourself|[the rest of] (your|the|ya) [own] [AT] (DAY|night sleep
  |mood) [go|been]|the (world|weather|family)) [been] [going|goin|treating you|hanging|shaping up|looking|turning out
  |coming along] [on your (side|end)|over there|with you|in your world|for you] [AT]|(whats|what is|what) (new|up
  |happening|going on|goin on|cooking|good|crackin|poppin|shaking|the (latest|news|word|good word|craic|vibe)|occurring)
  [with (you|yourself|ya)|over there|in your world|on your (end|side)|there|around here]|wassup|sup|what it do|(what
  |whatre|whatcha|whatve|what have|what are|so what have) [have|are] [you|ya] [been] (up to|doing|doin)|got any plans for
  today|[got|have you got|is there] anything (new|exciting|interesting|fun|good) [going on|happening|up|to report|to
  share] [with you|for you]|[is|are] (everything|all|things|everyone|it all) [all] (good|ok|okay|alright|all right|fine
  |well|great|cool) [with (you|yourself|ya)|on your (side|end)|over there|there|in your world|then]|([are|r] (you|u)|doing
  |feeling) [doing|feeling|keeping|all|having|staying] [INT] (ok|okay|alright|all right|well|good|fine|great|fun|better
  |safe|warm|a [KIND] (day|time|morning|evening|night|week)) [over there|there|yourself]|are you [INT|still|getting
  |feeling] (happy|tired|sleepy|bored|lonely|awake|busy|ready|sad|asleep|hungry|alive|real|human|online|thirsty|cold|mad
  at me|angry with me|sick of me|tired of me|bored of me|up|comfortable|excited)|you (well|good|ok|okay|alright|hungry
  |busy)|(did|have) you [had|have|get|sleep|slept|rest|enjoy|enjoyed|miss|missed] [your|a|an|any|some|the] [INT] [KIND]
  (weekend|day|night|sleep|rest|morning|well|me|okay|evening|week|break|holiday|time|holidays|christmas|ok|us) [off|over
  there]|had a [KIND] DAY [off]|have you [already|just] (eaten|slept|rested|woken up|had [your|a|any|some|a nice]
  (breakfast|lunch|dinner|coffee|tea|supper|morning coffee|cup of (tea|coffee))|missed me|been well|been good|been keeping
  well|been busy|been okay|been alright|been waiting [long] [for me])|(how|what) about (you|yourself|yours|u)|(and|&) (you
  |yourself|yours|u)|hbu|wbu|yours|you (too)|(dont|do|dya) you [ever|even|actually|really|also|sometimes|still] (get
  (tired|bored|lonely|sleepy|hungry|angry|sad|annoyed|any (rest|sleep|breaks)) [of (me|this|it|my questions|talking
  |answering)]|sleep|dream|eat|feel (anything|pain|love|lonely|happy|emotions)|rest|drink|have [any|a] (feelings|emotions
  |hobbies|friends|soul|body|family|dreams|personality|sense of humour|sense of humor|fun|day off|breaks)|take [a|any]
  (break|breaks|nap|naps|rest|day off)|like (me|talking to me|your job|being an ai|jokes|helping people)|enjoy (this|your
  job|talking to me|our chats|it|helping people)|love me|miss me|laugh|cry|work (too hard|all day|hard))|can you [really
  |actually|even|ever] (feel (pain|anything|emotions|love|things)|think|sleep|dream|love|cry|laugh|hear me|see me|get
  tired)|(whats|what is|hows|how is|how does) [it] [like|feel] (being|to be|life as) (an ai|a robot|a bot|an assistant|you
  |a computer|a machine)|what do you (do|like to do|enjoy) (for fun|all day|when im gone|in your free time|in your spare
  time)|(do|have) you [have|got] [a] (minute|moment|sec|second|plans for today) [for me|to chat|to talk]|you busy|can we
  [just] (talk|chat)|(may|can|could) i (ask (you) something|bother you|talk to you) [for a (second|minute|moment|sec)]
  |shall we (begin|start|get started)
ASKED = WELL [VOCATIVE] [AT] [ADDR]

THANKS = ([many|big|huge|a thousand|a million|a big|a huge|lots of|so many|really|again|warm|and|my] (thanks|thank you
  |thankyou|thx|ty|tysm|tyvm|thnx|tks|thank u|cheers|ta|gracias|merci|kudos|props|hugs)|much (obliged|appreciated)|(really
  |greatly|very much|so) appreciated|(all the|and) thanks) [LOT] [LOT] [for FOR] [to you] [LOT] [VOCATIVE|PRAISE] [AT]|[i
  |we|and i] [INT|greatly|deeply|do|sincerely|also|will] [INT] appreciate (it|that|you|this|everything|[all|all of] (your
  |the) [INT] [KIND] THING|you DOING [ME]|you [very] much|what you (do|did)|ya) [LOT] [AT] [VOCATIVE]|[i] (cant|cannot
  |could never|couldnt|can never) thank you enough [for FOR]|(i owe you [one|big time|a (beer|coffee|drink)])|[IM|and]
  [INT] (grateful|thankful|obliged|lucky to have you|glad (youre here|you exist|i asked|we talked|i have you)) [to you|for
  you] [for FOR] [LOT]|what would i do without you|i (dont know|have no idea) what (id|i would|i d) do without you|(id|i
  would) be lost without you|bless you|bless your heart|god bless [you]|[i] (love|like|adore|miss|trust|missed|enjoy
  |enjoyed|loved|will miss) (you|talking (to|with) you|chatting with you|our (chats|chat|talks|talk|conversation
  |conversations|little chats)|this (chat|conversation)|it|that|your (style|jokes|enthusiasm|energy|honesty|attitude|sense
  of humour|sense of humor|company|voice|optimism)) [LOT] [AT]|[no] (need|reason) to thank me|dont mention it|(the
  pleasure was|its|it was) [all] mine|[it was] [all|always] my pleasure|anytime|youre (always|most|more than|very|so)
  welcome|(happy|glad) (to help|i could help|that helped|to hear it|to oblige) [AT]|no trouble [at all]

PRAISED = (YOURE|what|IT) [INT] [INT] (a|an|the|my|one) [INT] [INT] [KIND|real|absolute|true|proper|total|huge|big|rock
  |little|life] [KIND] PRAISE [to (me|us)|AT|at this|ever|of a (kind|friend)|VOCATIVE]|[but] YOURE [INT] [INT] GOOD [and
  [INT] GOOD] [to me|at this|at (this|your job)|with words|AT|for me|of you]|(youre|you are) [just|the] (too much|one of a
  kind|on fire|the one|welcome|right|so right|quite right|correct|killing it|wonderful company)|you [INT|always|never|have
  |just|both|certainly|also|all|sure] (rock|rule|rocked|nailed it|made my (day|week|morning|evening|night|weekend)|make my
  day|saved (my (life|day|bacon|neck|skin|butt)|me|the day) [there|AT]|crack me up|disappoint|fail to (impress|amaze|help)
  [me]|let me down|know (what to say|best|how to (help|cheer me up|make me (laugh|smile)))|got (me there|it|this|that
  right|jokes)|did (great|well|it [again]|good|amazing|a [KIND] job|an [KIND] job)|make (me (laugh|smile|happy|feel better
  |blush)|it look easy|[perfect|so much] sense|life easier|everything better)|made me (laugh|smile|happy|feel better
  |blush)|helped [me] [out] [LOT]|bet|deserve (a (raise|medal|break|hug|holiday|cookie)|the best)|are too kind|have been
  [so] GOOD|have (a way with words|a good heart|[a] great taste|great ideas|a great sense of (humour|humor))|impress me
  |amaze me|surprised me|understand me|get me|outdid yourself|come through|work hard|look (great|good|nice)|flatter me
  |beat me to it)|arent you [INT|just] [a|the|an] (KIND|PRAISE|something) [one|PRAISE]|(how|thats|that is|so|very|too)
  [INT] (GOOD|BAD) [of you] [to (ask|say|think|hear|know|see|help|do that|offer)]|(ha|haha|ok|okay) [ok] you got me
  [there]|good (for|on) you|well done [you|VOCATIVE|AT]|nailed it|bingo|spot on|bravo|bullseye|[thats] exactly [right|it
  |that]|top notch|first class|second to none|well (played|put|said|thought|deserved|explained)|nicely (put|done|said
  |explained)|a plus|ten out of ten|5 stars|five stars|10 10|chefs kiss|hats off [to you]|way to go|not bad [at all]
  |better than (expected|ever|nothing|i (expected|thought))

REMARK = [oh|wow|well|ah|yeah|yes|ok|honestly] IT [all|also|would|all has|really|certainly] [is|be|was|been|seems|sounds
  |looks|feels|felt|sounded|looked] [INT] [INT|a bit|a little|more than|much] KIND [of you] [to (say|hear|know|see|ask|me
  |do|help|think)] [AT|than i (expected|thought|imagined|hoped|remembered)|for me|enough|indeed|idea|idea [THING]]|IT [was
  |is] [INT|a] (right|correct|true|enough|all|everything|it|cool|hilarious|a relief|a pleasure|a surprise|a shame|a pity
  |life|a joke|a lot|the spirit|the best|mine) [i (need|needed|wanted)] [from you] [AT]|(that|this|it|you) [really|totally
  |certainly|has|have|all|just|already|definitely] (helps|helped|help) [me] [LOT] [AT] [INT]|IT [was|is|INT] [KIND] (help
  |fun|helpful|useful)|(that|this|it) [INT] (made|makes) [total|perfect|complete|much|so much|a lot|a bit] [of] (my day
  |sense|me (laugh|smile|happy|feel better|blush|cry)|it [much|a lot|so much] (clear|clearer|easier|better)|more sense|a
  difference|two of us) [LOT] [AT] [INT]|(that|this|it) (did|does|should do|ought to do|will do|would do) [the|it] [trick
  |job|nicely|for me]|(that|this|it) [just] (works|worked|should work|will work) [great|perfectly|well|nicely|fine|a treat
  |wonders|like (a charm|magic)] [for me] [AT]|(that|this|it) [INT] (clears|cleared|clarifies|clarified|explains|explained
  |answers|answered|settles|solved|solves|fixed|fixes|confirms|covers|sums) (it|that|things|everything|my question|it all
  |a lot|the problem) [up] [LOT] [AT]|[IT] [is|was] [INT|precisely|nearly|almost|all] what i (needed|wanted|was looking
  for|was after|meant|thought|was hoping for|had in mind|needed to (hear|know)|was thinking|expected|hoped for|asked for)
  [to (hear|know)]|[IT] [really|so] means (a lot|so much|the world|everything) [to me] [LOT]|[IT] cheered me up [LOT]|that
  hit the spot|IT warms my heart|IT works|(what|thats|its|what|that is|that was|it was|it is|is it|isnt it|such) [INT
  |such] (a|an|some) [INT] [KIND|BAD|pleasant] [KIND] (THING|DAY|surprise|story|joke|idea|relief|shame|pity|coincidence
  |thought|treat|pleasure|world|mess|question|point|plan|fact|way to (put it|start the day)|thing to say|time|feeling
  |weather|one|life|compliment|view) [today|outside|again|isnt it|to have|of you|indeed|for you|to be alive|to hear] [AT]|
  (what|its|such|it is|we have|were having) [INT|some] (KIND) (weather|news|times|words|stuff|sunshine) [today|outside
  |again|(were|we are) having|isnt it|indeed|for you]|(its|so|its INT) (cold|hot|warm|sunny|rainy|windy|freezing|chilly
  |nice|lovely|gorgeous|gloomy) [out|outside|today|here|out there|AT]|its (raining|snowing|pouring) [again|outside] [AT]|
  [INT] KIND (answer|answers|job|work|stuff|one|point|idea|ideas|thinking|question|joke|news|choice|tip|tips|advice
  |explanation|suggestion|suggestions|shot|call|effort|catch|guess|try|attempt|chat|talk|response|reply|memory|sense of
  humour|words|day|weather|times|to know|to hear|enough|indeed|show|thing) [there|again|indeed|AT|VOCATIVE|you (have|did)
  there]|[hooray|yay|woohoo|finally|thank god|tgif] its [finally|almost|nearly|only] (DAY|weekend|the weekend|bedtime
  |lunchtime|over|time|late)|hooray|woohoo|yippee|whee|yahoo|yess|yesss|yay|hurray|(so|too|very|really|how|quite|pretty
  |absolutely|simply|just|truly) [very] KIND|exactly|precisely|indeed|absolutely|definitely|totally|certainly|sweet as
  |music to my ears|cheers to that|amen [to that]|i hear you|i feel you|tell me about it|you can say that again|say no
  more|been there
ACK = [yes|yeah|yep|ok|okay|right|no|ah|oh|well|alright] [i] [INT] (think|guess|suppose|believe|hope|know|see|imagine|bet)
  [so|not|that] [now|too|as well|then]|[i] (think|guess|suppose|believe) (i) [INT] (understand|get it|got it|see|know
  |agree|have it|can manage|follow|do|will|am|was|did|should|can) [it|that|now|what you mean|your point|better] [AT]|(i
  |now i|ok i|ah i|oh i) [INT|finally|fully|completely|think i|do|can|totally] (understand|get it|got it|see|get that|know
  |agree|follow|do|hear you|see that|know that|got you|know what you mean|get the idea|get the picture|remember now|stand
  corrected) [it|that|now|what you mean|your point|better|completely|with (you|that)] [AT] [LOT]|(ill|i will|ok ill|let me
  |i shall|lets|i can|im going to|ill just|i might|i should|ill definitely|ill have to|then ill) (do|try|see|give|think
  |look|check|keep|let|remember|take|go|sleep|get|be|make|leave|come|pass|wait|bear) [so|just|it|that|this|your advice
  |right|a|in|on|you|with] [a try|a go|a shot|a look|try|go|shot|back [to you]|note|right back|there|out|over|know|into it
  |mind|that in mind|about (it|that)|it there|a moment|word for it|note of that|on it|with that|at that|happens|goes|in
  touch|what happens|how it goes|around] [AT|soon|first|out|for sure|sometime|when i can|and see|and let you know]|will do
  |can do|on it|consider it done|duly noted|point taken|message received|loud and clear|as you wish|if you say so|(thats
  |thats a) (fair|good|great|excellent|valid) [point|enough|call|question]|(no|nope|nah) [INT|i] (thats|that is|that was
  |that will be|thatll be|that would be) (all|it|everything) [for (now|today)] [i (need|needed|wanted)] [from you] [AT]|[i
  |and i|well i] [think|guess|believe] [thats|that is|thatll be|that will be|that covers|that was|this is] (all|everything
  |it) [for (now|today|tonight|me)] [then] [i (need|needed|wanted|have)] [AT]|(thatll|that will|that should|that would)
  (do|be all|be it|be everything|suffice|be (fine|great|nice|lovely|perfect)) [me] [nicely] [AT]|(nothing|not) (else|more
  |much|new|really|special|a lot|at all|for now|quite|exactly|necessarily|today|yet|too much|important) [AT|here|with me
  |to report]|no [INT|im|thanks im] (all|good|not|fine|ok|okay) [good|really|at all|set|thanks] [thanks|thank you]
  |(yes|yeah|yep|yup|no|nope|sure|ok|okay|right) [thats|its|you are|youre
  |it is|that is] (right|correct|true|it|fine|ok|okay|good|perfect|all|great)|(sounds|seems|looks) [INT|like [a|an]] (KIND
  |plan|[KIND] (plan|idea|deal|time|day|fun)) [to me|then]|fair [enough|point|play|dos] [i (suppose|guess)]|suit yourself
  |up to you|as you like|either way|whichever|works for me|fine (with|by) me|deal|its a deal|im in|count me in|lets (call
  it a (day|night)|leave it [there|at that]|talk [later|soon|tomorrow]|chat|do (it|that|this)|go|see|begin|start|continue
  |move on|carry on|wrap [it] up|stop here|pick this up later|have fun|catch up [soon|later]|hope so|get (going|started)
  |take a break|not) [AT]|(lets|we can|shall we|can we|i want to|id like to|could we) [just] (chat|talk|have a chat|hang
  out) [with you] [AT|a bit|a little|for a (bit|while|minute|moment)|about (something|anything|nothing)]
STATE = IM [a bit|a little|kind of|kinda|all|still|INT|feeling|not] [INT|feeling] (GOOD|tired|bored|sleepy|exhausted
  |knackered|excited|done|set|sorted|speechless|impressed|amazed|glad|pleased|sorry|confused|curious|ready|relieved
  |stuffed|thrilled|delighted|hyped|proud of you|not sure|listening|waiting|bad|so so|cheerful|chuffed|blown away|here for
  you|on cloud nine|over the moon|in a (good|great) mood) [AT|really|actually|thanks|for you|to (hear (that|it|from you)
  |see you|be here|be back|help|know|meet you)|with (it|that|this)|how about (you|yourself)|enough] [AT]|not [INT|too|so
  |that|all that] [INT|feeling] (KIND|much|well|great|shabby) [AT]|(could|couldnt) be (better|worse)|(same|the same) [old
  |as (always|ever|usual)] [same] [old] [here]|(i) cant complain|(cant|no) complaints|(im|just|still) (hanging|getting
  |plodding|muddling) [in there|by|along]|surviving|alive and (well|kicking)|living the dream|so far so good|(just|only
  |mostly) (chilling|relaxing|resting|chillin|vibing|hanging (out|around)|thinking|waiting|working|the usual|living|lazing
  around|killing time|saying) [here] [AT]|(im|i am|we are|i was) [just|only|just here|back] (joking|kidding|teasing
  |testing|messing (around|with you)|playing|curious|saying|wondering|asking|rambling|venting|messing) [AT|you]|(only|just
  |totally) (kidding|joking|teasing|messing with you)|(it|that) was [just|only] a joke|[its been|it was|ive had|had] [a]
  [INT|such a|quite a] (long|busy|hard|rough|tough|great|good|tiring|slow|lazy|quiet|crazy|bad|weird|hectic|nice) (day
  |week|night|morning|one) [here|for me|at work|AT]
SORRY = [INT|im|i am|oh|so|once again] (sorry|apologies|my apologies|apologise|apologize|my (mistake|fault|error|bad))
  [about|for|to] [that|this|it|it all|the (confusion|mess|typo|typos|delay|wait|trouble|inconvenience|interruption|noise
  |rambling|mixup|misunderstanding|mistake|spam)|bothering you|keeping you (waiting|up)|disturbing you|being [INT|a|so]
  (late|rude|slow|grumpy|pain)|(bother|keep|disturb|interrupt|trouble|hear (that|it)|wake|ask) [you] [waiting|that|up]
  |wasting your time|snapping at you|rambling|my (typo|typos|bad mood|mistake|absence)|everything] [AT] [LOT] [VOCATIVE]|i
  [INT] (didnt|did not|dont) mean (that|it|any harm|to (bother|offend|upset|hurt|disturb|insult|be rude|interrupt) [you])
  |i take (that|it) back|(please) (ignore|disregard|forgive|forget|excuse) (me|that|this|my (typo|last message|mistake
  |manners)|what i (said|just said))|[its] [all] (my) (fault|bad)|wrong (window|chat|button)|(its|that is|thats) (okay|ok
  |alright|fine|all good|no problem) [dont worry|really]|dont worry [about (it|that|me)]|no (harm done|offence|offense
  |hard feelings|big deal|biggie|sweat)|no (problem|worries|rush|pressure|hurry) [at all|VOCATIVE]|whoops|oopsie|oops
  [sorry|my bad]
REACTION = (oh|ah|aw|aww|wow|ha|haha|hmm|well|whoa|ooh|um|er|phew|geez|gosh|damn|dang|yikes|jeez|blimey|crikey|hahaha
  |hahahaha|lol|hehe|omg|wtf|eh|huh|mmm|uh|ouch|ugh|argh|yum) [my|dear|no|come on|wow|really|well|yes|okay|god|boy|man
  |goodness|i see|right|cool|nice|thats KIND]|oh [my] (goodness|god|gosh|word|lord|dear|days|come on) [me]|[oh] come on
  [now|man]|good (grief|lord|heavens|gracious)|goodness [me|gracious]|for real|no (kidding|way|joke|doubt|shit)|[oh]
  really [now]|seriously|honestly|are you [being|INT|for] (serious|kidding [me]|joking|real|sure|sarcastic|certain|pulling
  my leg|having a laugh)|(you|youve|you have) (must be|got to be|gotta be|have to be|are|cant be) (joking|kidding|serious)
  [me]|(is|was) that (so|right|a (joke|yes|no|compliment))|(thats|that is|that was|its|not) not [INT|very] (funny|nice
  |fair|cool|kind)|i (dont|cant|couldnt|didnt) (believe it|believe this|know what to say|stop laughing|agree more|care
  |mind|get it|get the joke)|who knew|who would have thought|well i never|fancy that|go figure|(you|that) never (know
  |knows)|cant wait|im (laughing|dying|crying) [so hard] [lol]|(rofl|lmao|lmfao|xd|lolol|kek)|thats (what she said|life
  |that|the spirit|my girl|my boy)|(i|we) hope so|hopefully|if only|i wish|you wish|touche|guilty [as charged]|story of my
  life|it is what it is|time flies|small world|long story

LATER = soon|later|tomorrow|around|then|again|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tonight|there
FAREWELL = (bye|goodbye|farewell|byebye|cya|buh bye|toodles|cheerio|tata|ttfn|ttyl|so long|adieu|later|laters|peace|over
  and out|cheers|night|ciao|hasta la vista|au revoir|sayonara|bye bye|bye now) [now|then|for now|all|again|VOCATIVE
  |everyone|and] [bye] [take care] [AT]|(see|seeing|cu|catch|talk|speak|chat|until|till|good talking|great talking|nice
  talking|nice chatting|lovely chatting|good chatting|lovely talking|speaking|be in touch|chatting|meet|be back|ill be
  back|ill see|i will see|ill talk|ill catch|back) [up] [to|with|for] [you|ya|u|yall|again|me] [all] [on|next|back|until
  |again|up] (LATER|time|week|in a (bit|while|minute|moment|few|few minutes|second|sec|couple of days)|next (time|week
  |year|month)|then|bye|round|this (evening|afternoon|week)|when im back|when i (wake up|get (back|home))|on the other
  side|we meet [again]|LATER (morning|evening|night|afternoon)|first thing tomorrow) [VOCATIVE] [bye|AT]|[well|ok|okay
  |right|sorry|but|and|anyway] [i] [INT] (have|need|ve got|got|must|should|gotta|had better|better|ought|want|am going
  |have got|am about|really must|i think i should|ill|will|might|ought to) [to|ive|be] (go|run|leave|dash|off|head (out
  |off|home|to bed)|get (going|back to work|some (sleep|rest)|ready|to (work|bed)|up early)|sleep|rest|log off|sign off|go
  to (bed|sleep|work|school|class)|hit the (hay|sack|road)|turn in|take a (nap|break)|be (off|going)|call it a (day|night)
  |rest|say goodbye|let you go) [now|soon|then] [AT]|(im|i am) [INT|now|just|going to|gonna|about to] (off|leaving|heading
  (out|off|home|to bed)|out|going (to (bed|sleep|work)|home|now)|away|logging off|signing off|calling it a (day|night)
  |hitting the (hay|sack)) [to (bed|sleep)] [now|then|for (now|today|tonight)]|(its|past my|its past my|almost) [INT
  |getting|almost|my] (time|bedtime|late) [for bed|to (go|sleep|say goodbye|go to (bed|sleep)|leave|rest|hit the hay)]
  [AT]|brb|afk|bbl|gtg|g2g|(be|ill be|i will be) right back|back in a (sec|bit|minute|moment|few)|talk about it later|duty
  calls|[i|we|and|please|then|also|now|hope you|hope you all|i hope you|do|you] [INT|wish you|will|also] (have|enjoy
  |having|wish you|wishing you|are having|re having|youre having) (a|an|the|your|yourselves|yourself|that|some) [INT]
  [INT] [KIND] (DAY|one|time|trip|flight|journey|rest [of (your|the) DAY]|yourself|meal|weather|ride|break|start [to]
  [your|the] [DAY]|sleep|dreams|sunshine|little time off|good time|rest) [ahead|too|as well|everyone|VOCATIVE|AT|with your
  (family|friends|loved ones)|off] [AT]|(have|having) [lots of|INT|so much] fun [AT|too|out there|VOCATIVE]|(sleep|rest
  |keep|stay|be|eat|travel|get|feel|drive|live|do|hang|chill|stay) [INT] (well|tight|safe|good|warm|cool|strong|healthy
  |happy|better|awesome|blessed|in touch|tuned|hydrated|in there|golden|dry|out) [soon|too|VOCATIVE] [AT]|[sweet|pleasant
  |nice] dreams [too|VOCATIVE]|take (care|it easy|your time|good care|a rest|a break) [of yourself|yourself] [too|now|and]
  [AT] [VOCATIVE]|get well [soon] [VOCATIVE]|safe (travels|journey|trip|flight|drive|home|and sound) [home]|bon (voyage
  |appetit|weekend)|good luck [to you|with (that|everything|it|your (day|week|work)|it all|all that)] [AT] [VOCATIVE]
  |break a leg|all the (best|very best) [to you|with (it|that|everything)]|(best|kind|warm|kindest|warmest) (wishes
  |regards) [to you]|fingers crossed [for you]|godspeed|until [next|we] (time|meet) [again]|enjoy [yourself|yourselves|it
  |AT]|happy (travels|holidays|days)|my thoughts are with you|[i|we|and] [INT|do] hope (you|all|everything|things|your
  (DAY|morning|day)|youre|you are|ur) [all|slept|is|are|had|s|been|have been|has been] [going|doing|keeping|slept|feeling
  |staying|having] [INT|all] [well|good|ok|okay|great|fine|better|soon|safe|happy|fun|a (KIND) DAY|you slept well|alright
  |lovely|warm] [with you|AT|on your (end|side)|there|for you] [soon] [AT]|(same|right) (to|back at) you [too|VOCATIVE]
  |you (too|as well|also) [VOCATIVE]|likewise [VOCATIVE]|back at you|and [to] you [too]|you do the same|(the) same (here
  |to you)
WISH = (congratulations|congrats|well done|way to go|kudos|bravo|hurray|cheers|felicitations|good going|happy for you|so
  happy for you|im (INT) happy for you|so proud of you) [to you|again|on that|VOCATIVE|LOT]|thats [INT] (GOOD) (news|to
  hear|to know) [indeed|for you]|[such] KIND news [indeed]|(im|i am|we are|so) [INT] (happy|glad|pleased|delighted|sorry
  |sad|proud|excited) (for you|of you|to hear (that|it|this)|you (liked|like|enjoyed|think so|asked|feel better|said (that
  |so)|are here|could (make|help))|youre (here|back|ok|okay|feeling better|safe)|about that|that helped)
CHAT = (tell|give|sing|say|show|read|make|ask|cheer|amuse|entertain|surprise|humour) [me|us] [a|an|another|something|one
  |some] [more|good|funny|KIND|dad|short|random|bedtime|fun|nice] (joke|jokes|song|story|hug|smile|laugh|compliment|fact
  |poem|riddle|up|me|something|hi|hello|anything|cheese) [please|for me] [AT]|(im|i am|i feel) [so|INT] (bored|lonely
  |talkative) [AT]|talk to me|(i) need (a (hug|break|nap|laugh)|sleep|some (sleep|rest|company)|to (vent|rest|relax)) [AT
  |so badly|badly]|keep me company|pick a number|high five|fist bump|virtual hug|hugs [and kisses]|xoxo|xx|xxx|kisses|
  (where (are|were|have) you [been|from|live])|(who|what) are you [again|really]|who (made|built|created|trained) you

AND = and|but|so|well|oh|ah|haha|hahaha|then|or|also|too|please|though|anyway|now|today|again|indeed|really|ok|okay|yes
  |yeah|no|yep|nope|right|lol|wow|hey|hi|alright|sure|great|good|nice|cool|perfect|excellent|hmm|um|as well|actually|just
  |already|because|cause|man|dude|ha|aw|aww|thanks|sorry|fine|anyways|plus|btw|by the way|ps|hehe|absolutely|exactly|true
  |wonderful|amazing|brilliant|awesome|super|sweet|lovely|fantastic

TALK = GREETING|ASKED|THANKS|PRAISED|REMARK|ACK|STATE|SORRY|REACTION|FAREWELL|WISH|CHAT
"""

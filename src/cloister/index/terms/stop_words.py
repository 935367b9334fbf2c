"""Function words by language: they are left out of the terms of a text in that language, and tell which language a text is in.

A list has the words that say little of what a text is about, inflected, in lower case, of two or more letters, also without their
accents where people leave these out. No list has a month. Words may mean something in another language (German "die"): a list
counts only for texts in its own language.
"""

_ENGLISH = (
    "about above after again against ain all also am an and any anybody anyone anything are aren around as at be "
    "became because been before being below between both but by came can cannot cant come could couldn did didn do "
    "does doesn doing don done down during each either else ever every everybody everyone everything few for from "
    "further gave get gets getting give given go goes going gone got had hadn has hasn have haven having he her here "
    "hers herself him himself his how however if in into is isn it its itself just let ll made make makes making many "
    "me might mightn mine more most much must mustn my myself need needn neither no nobody none nor not nothing now "
    "of off often oh ok okay on once one only onto or other others our ours ourselves out over own please quite "
    "rather re really said same say says shall shan she should shouldn since so some somebody someone something still "
    "such than that the their theirs them themselves then there these they thing things this those though through "
    "thus to too toward towards under until up upon us use used ve very was wasn way we well went were weren what "
    "whatever when where whether which while who whoever whom whose why will with within without won would wouldn "
    "yeah yes yet you your yours yourself yourselves"
)
ENGLISH = frozenset(_ENGLISH.split())
"""Not "may": it is a month."""

_GERMAN = (
    "ab aber ach alle allem allen aller allerdings alles als also am an ander andere anderem anderen anderer anderes "
    "anders auch auf aus außerdem bei beide beiden beim bevor bin bis bisschen bist bitte bloß da dabei dadurch dafür "
    "dagegen daher damals damit danach daneben dann daran darauf daraus darf darfst darin darum darunter darüber das "
    "dass davon davor dazu daß dein deine deinem deinen deiner deines dem den denen denn dennoch der deren des "
    "deshalb dessen deswegen dich die dies diese diesem diesen dieser dieses dir doch dort du durch durfte durften "
    "dürfen eben ebenso eher eigentlich ein eine einem einen einer eines einige einigen einiger einmal endlich er "
    "erst es etwa etwas euch euer eure eurem euren eurer fast fuer für gab ganz gar geben gegeben gegen gehabt gehen "
    "geht gekommen gemacht genau genug gerade gern gerne gesagt gewesen geworden gibst gibt ging gingen gleich hab "
    "habe haben habt haette halt hast hat hatte hatten hattest her hier hin hinter hätte hätten ich ihm ihn ihnen ihr "
    "ihre ihrem ihren ihrer ihres im immer in indem ins irgendwie ist ja je jede jedem jeden jeder jedes jedoch "
    "jemand jemandem jemanden jene jenem jenen jener jenes jetzt kam kamen kann kannst kaum kein keine keinem keinen "
    "keiner keines koennen koennte komme kommen kommt konnte konnten können könnt könnte könnten leider mach mache "
    "machen machst macht machte machten mal man manche manchem manchen mancher manchmal mehr mein meine meinem meinen "
    "meiner meines meist meistens mich mir mit mochte muessen muss musst musste mussten muß möchte möchten möchtest "
    "mögen müssen müsste na nach nachdem naemlich natürlich neben nee nein nicht nichts nie niemals niemand noch nun "
    "nur nämlich ob obwohl oder oft ohne okay paar sag sage sagen sagst sagt sagte sagten schon sehr sei seid sein "
    "seine seinem seinen seiner seines seit seitdem selber selbst sich sie sind so sobald sodass sogar solange solche "
    "solchem solchen solcher soll sollen sollst sollt sollte sollten sondern sonst soviel sowie spaeter statt "
    "trotzdem tun tut ueber um und uns unser unsere unserem unseren unserer unter viel viele vielem vielen vieler "
    "vielleicht vom von vor vorher waere wann war waren warst warum was wegen weil weiter welche welchem welchen "
    "welcher welches wem wen wenig wenige weniger wenn wer werde werden werdet weshalb wessen wie wieder wieso will "
    "willst wir wird wirklich wirst wo wobei wodurch wofür wogegen woher wohin wohl wollen wollt wollte wollten womit "
    "wonach woran worauf woraus worden worin worum worüber wovon wovor wozu wuerde wuerden wurde wurden während "
    "währenddessen wäre wären würde würden würdest ziemlich zu zum zumindest zur zwar zwischen über überhaupt "
    "übrigens"
)
GERMAN = frozenset(_GERMAN.split())

_SPANISH = (
    "acerca ademas además adonde ahi ahora ahí al algo alguien algun alguna algunas alguno algunos algún alla alli "
    "allá allí ambos ante antes apenas aquel aquella aquellas aquello aquellos aqui aquí asi así aun aunque aún bajo "
    "bastante bien cada casi como con conmigo consigo contigo contra cosa cosas cual cuales cualquier cualquiera "
    "cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo da dado dan dar de "
    "debe deben debería debo debía decir del demasiado demás dentro desde despues después dice dicen dicho digo dije "
    "dijeron dijiste dijo donde durante dónde el ella ellas ello ellos en encima entonces entre era erais eran eras "
    "eres es esa esas ese eso esos esta estaba estaban estabas estado estamos estar estará estas este esto estos "
    "estoy estuve estuvo está están estás esté fue fuera fueron fuese fui fuimos fuiste gracias ha haber habia habrá "
    "había habían habías hace hacen hacer haces hacia hacía hago han has hasta hay haya haz he hecho hemos hice "
    "hicieron hicimos hiciste hizo hubo iba iban ibas incluso ir jamás la las le les lo los luego mas me mediante "
    "mejor menos mi mientras mis misma mismas mismo mismos mucha muchas mucho muchos muy más mí mía mías mío míos "
    "nada nadie ni ningun ninguna ningunas ninguno ningunos ningún no nos nosotras nosotros nuestra nuestras nuestro "
    "nuestros nunca os otra otras otro otros para pero poca pocas poco pocos podemos poder podido podría podía por "
    "porque pude pudo puede pueden puedes puedo pues que quería quien quienes quiere quieren quieres quiero quizá "
    "quizás quién quiénes qué sea sean segun según ser será serán sería si sido siempre sin sino sobre sois sola "
    "solamente solo somos son soy su sus suya suyas suyo suyos sé sí sólo tal tales tambien también tampoco tan tanta "
    "tantas tanto tantos te tendrá tenemos tener tenga tengo tenido tenía tenían ti tiene tienen tienes toda todas "
    "todavia todavía todo todos tras tu tus tuve tuviste tuvo tuya tuyas tuyo tuyos tú un una unas uno unos usted "
    "ustedes va vais vamos van varias varios vas vaya ve veces vez vosotras vosotros voy vuestra vuestras vuestro "
    "vuestros ya yo él"
)
SPANISH = frozenset(_SPANISH.split())

_FRENCH = (
    "afin ai aie ainsi alors apres après as assez au aucun aucune aucuns aujourd auquel aura aurai auraient aurais "
    "aurait auras aurez aurons auront aussi autre autres aux auxquelles auxquels avaient avais avait avant avec avez "
    "aviez avions avoir avons ayant beaucoup bien bientôt car ce ceci cela celle celles celui cependant ces cet cette "
    "ceux chaque chez ci combien comme comment dans de dedans dehors deja depuis des desquelles desquels devait "
    "devant devez devoir devrait dire dis disait dit dois doit doivent donc dont du duquel durant dès déjà elle elles "
    "en encore enfin entre envers es est et ete etre eu eue eurent eus eut eux faire fais faisais faisait faisons "
    "fait faites faut fera ferait font furent fus fut grâce hors hui ici il ils jamais je jusqu jusque juste la "
    "laquelle le lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là ma maintenant mais malgré me "
    "meme mes mien mienne miens mieux moi moins mon même mêmes ne ni non nos notamment notre nous nul oh on ont or ou "
    "oui où par parce parfois parmi pas pendant peu peut peuvent peux plupart plus plusieurs plutôt pour pourquoi "
    "pourrait pouvait pouvez pouvoir pouvons presque près puis puisque qu quand quant que quel quelle quelles quelqu "
    "quelque quelques quels qui quoi rien sa sans sauf se selon sera serai serais serait seras serez serons seront "
    "ses seulement si sien sienne siens soi soient sois soit sommes son sont sous souvent suis sur surtout ta tandis "
    "tant te tel telle telles tels tes toi ton toujours tous tout toute toutefois toutes tres trop très tu un une va "
    "vais vas vers veulent veut veux voici voilà vont vos votre voulais voulait vouloir vous vraiment vôtre étaient "
    "étais était étant étiez étions été êtes être"
)
FRENCH = frozenset(_FRENCH.split())

_ITALIAN = (
    "abbastanza abbia abbiamo ad adesso agli ai al alcun alcuna alcune alcuni all alla alle allo allora altra altre "
    "altri altro anche ancora anzi appena assai avere avesse avete aveva avevamo avevano avevi avevo avrebbe avrei "
    "avrà avuto basta ben bene che chi ci ciascuno cioè ciò coi col come comunque con contro cosa cose cosi così cui "
    "da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello dentro detto deve devi devo devono "
    "di dice dire dobbiamo dopo dov dove dovere dovrebbe dunque durante ebbe ecco ed entrambi era erano eri ero "
    "essere est fa faccio faceva facevo fai fanno fare fatto fino forse fosse fossi fra fu fui fuori già giù gli "
    "grazie ha hai hanno ho il in infatti insieme intanto invece io la le lei li lo loro lui là lì ma magari mai me "
    "meglio meno mentre mi mia mie miei mio molta molte molti molto ne negli nei nel nell nella nelle nello nemmeno "
    "neppure nessun nessuna nessuno niente no noi non nostra nostre nostri nostro nulla od ogni ognuno oltre oppure "
    "ora ormai parecchio per perche perché perciò pero però piu piuttosto più poca poche pochi poco poi poiché possa "
    "possiamo posso possono poteva potevo potrebbe potuto presso prima proprio puoi pure può qua qual qualche "
    "qualcosa qualcuno quale quali quando quant quanta quante quanti quanto quasi quel quell quella quelle quelli "
    "quello quest questa queste questi questo qui quindi sa sai saranno sarebbe sarei sarà sarò se sei sembra sempre "
    "senza si sia siamo siano siate siete so sola solo sono sopra soprattutto sotto sta stai stanno stare stata state "
    "stati stato stava stavo sto su sua sue sugli sui sul sull sulla sulle sullo suo suoi sé sì ta tale tali tanta "
    "tante tanti tanto te ti tra troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto un una uno va vado vai "
    "vanno verso vi vicino voglio vogliono voi vorrei vostra vostre vostri vostro vuoi vuole è"
)
ITALIAN = frozenset(_ITALIAN.split())

_PORTUGUESE = (
    "abaixo acima agora ai ainda algo algum alguma algumas alguns alguém ali além ambos antes ao aonde aos apenas "
    "apesar após aquela aquelas aquele aqueles aqui aquilo as assim ate através até aí bastante bem cada cerca coisa "
    "coisas com comigo como consigo contigo contra contudo cuja cujo cá da daquela daquele das de dela delas dele "
    "deles demais dentro depois desde dessa desse desta deste deve devem deveria devia devo diante disse disso disto "
    "diz dizer do dos durante ela elas ele eles em embora enquanto entao entre então era eram eras essa essas esse "
    "esses esta estamos estao estar estas estava estavam este esteja estes esteve estive estou está estás estão eu "
    "faz fazem fazer fazia feito fez fiz foi fomos for fora foram fosse fui graças havia há ir isso isto ja já lhe "
    "lhes logo longe lá mais mas me menos mesma mesmas mesmo mesmos meu meus mim minha minhas muita muitas muito "
    "muitos na nada nao nas nela nele nem nenhum nenhuma nessa nesse nesta neste ninguém no nos nossa nossas nosso "
    "nossos num numa nunca não nós obrigada obrigado onde os ou outra outras outro outros para pela pelas pelo pelos "
    "per perante perto pode podem podemos poder podia pois por porque porquê porém posso pouca poucas pouco poucos "
    "pra pro quais qual qualquer quando quanta quantas quanto quantos quase que quem quer queria quero quê sao se "
    "seja sem sempre sendo ser seria será serão seu seus sido sim so sob sobre somos sou sua suas são só tal talvez "
    "tambem também tanto te tem temos tendo tenha tenho ter teria terá teve tinha tinham tive toda todas todavia todo "
    "todos tu tua tuas tudo têm um uma umas uns vai vais vamos vez vezes voce você vocês vos vossa vosso vou vão à às "
    "és"
)
PORTUGUESE = frozenset(_PORTUGUESE.split())

_DUTCH = (
    "aan achter af al alle alleen allemaal alles als altijd ander andere anders ben bent bij binnen boven buiten daar "
    "daarna daarom dan dat de deze die dit doch doe doen doet door dus echt een eens eerst eigenlijk en enkele er erg "
    "ergens even ga gaan gaat gedaan geeft geen gegaan gehad geweest gewoon geworden gezegd ging haar had hadden heb "
    "hebben hebt heeft heel hem hen het hier hij hoe hoewel hun ieder iedere iedereen iemand iets ik in inderdaad is "
    "ja je jij jou jouw jullie kan kon konden kun kunnen kunt kwam later liever maakt maakte maar mag maken mee meer "
    "meest met mij mijn misschien mocht moest moesten moet moeten mogen na naar naast nee net niemand niet niets "
    "nodig nog nooit nou nu of om omdat onder ons onze ook op opeens over per soms steeds straks tegen terwijl "
    "tijdens toch toe toen tot tussen uit uw van vanaf vandaan veel vele voor vooral voordat waar waarmee waarom want "
    "waren was wat we weer weinig wel welk welke werd werden wie wij wil wilde wilden worden wordt zal ze zeer zeg "
    "zegt zei zeker zelf zelfs zich zij zijn zo zoals zodat zonder zou zouden zullen zult één"
)
DUTCH = frozenset(_DUTCH.split())

_RUSSIAN = (
    "без более больше будем будет будете будешь будто буду будут бы был была были было быть вам вами вас ваш ваша "
    "ваше ваши вдруг ведь весь во вот впрочем все всегда всего всей всем всеми всех всю всё вы где говорил говорила "
    "говорит да даже для до другая другие другим других другого другой едва ее ей ему если есть еще ещё её же за "
    "зачем здесь из изо или им иногда их ко когда кого кому конечно которая которого которое которой котором которую "
    "которые который которых кроме кто куда ли либо лишь лучше между меня мне много мог могла могли могу моего моей "
    "моему может можно мои моих мой мою моя моё мы на над надо наконец нам нами нас наш наша наше наши не него нее "
    "ней нельзя нему нет неё ни нибудь никогда ним ними них ничего но ну об однако он она они оно опять от ото очень "
    "перед по под пока после потом потому почему почти при про просто раз разве сам сама сами само своего своей свои "
    "своих свой свою себе себя сейчас сказал сказала со совсем спасибо так такая также такие такого такое такой там "
    "твое твоего твоей твои твой твоя те тебе тебя тем теперь тех то тобой тогда того тоже той только том тот ту тут "
    "ты уж уже хорошо хотел хотела хоть хочет хочу чего чей чем через что чтоб чтобы чуть эта эти этим этих это этого "
    "этой этом этот эту"
)
RUSSIAN = frozenset(_RUSSIAN.split())

IDEOGRAPHS = frozenset(
    "的了是我你他她它们們这這那在就也不吗嗎呢吧啊还還个個很什么麼怎哪谁誰几幾为為因得与與把被让讓给給从從向样樣没沒啦呀嘛"
)
"""Chinese function words of one character. As part of a longer word they count."""

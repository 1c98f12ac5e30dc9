//! Stop words of languages that Snowball has no lists for: the commonest short words of each, all of which OpenSearch's
//! lists have too; those are longer.

/// The words of a language, between spaces.
pub(super) fn list(language: &str) -> Option<&'static str> {
    let found = LISTS.iter().find(|(name, _)| *name == language);
    found.map(|(_, words)| *words)
}

const LISTS: [(&str, &str); 22] = [
    (
        "arabic",
        "أما أن أنت أو أي إذا إلا إلى إن اذا الا الان التى التي الذى الذي الذين الى اما ان انت انه \
         انها او اي ب بأن بان بعد بعض به بها بين تكون ثم حتى حيث خلال ذلك ضمن على عليه عليها عن عند \
         عندما غير ف فان في فيه فيها قبل قد كان كانت كل كما لا لدى لكن لم لن له لها ما مع من منذ منه \
         منها نحو هذا هذه هناك هو هي و وأن وان وفي وكان ولا ولم ومن وهو وهي يكون",
    ),
    (
        "armenian",
        "այդ այլ այն այս դու դուք եմ են ենք ես եք է էի էին էինք էիր էիք էր ըստ ի իսկ իր կամ համար հետ \
         մենք մեջ մի նա նաև նրա նրանք որ որը որպես ու ում պիտի վրա և",
    ),
    (
        "basque",
        "al anitz asko baina bat bera berau bere beste da dago dira ditu du dute edo egin ere eta ez \
         gu guzti haiei haiek hala han hango hara hari hark hau hauei hauek hemen hi hona honek honi \
         hor hori horko horra horri hura izan ni noiz nola non nongo nor nora ze zein zen zer ziren \
         zu zuek zuen zuten",
    ),
    (
        "bengali",
        "অনেক অন্য অবশ্য আগে আছে আজ আবার আমরা আমাদের আর ই উত্তর উপর উপরে এ এই এক্ এখন এত এব এমন এমনি \
         এর এস এসে ও ওই কমনে করা করে কাছে কাজ কাজে কারণ কি কিছু কে কেউ কেখা কেন কোটি কোনো কয়েক খুব \
         গিয়ে গেল চার চালু চেষ্টা ছিল জানা জ্নজন টি তখন তবে তা তাই তো থাকা থেকে দিন দু দুই দেওয়া \
         ধামার নতুন না নাগাদ নিয়ে নেওয়া নয় পর পরে পাচ পি পেয়্র্ প্রতি প্রথম প্রযন্ত প্রাথমিক প্রায় \
         বক্তব্য বন বলা বলে বলেন বহু বা বি বিভিন্ন বেশ বেশি মতো মধ্যে মনে যখন যদি যা যাওয়া যে র রকম \
         লক্ষ শুধু শুরু সঙ্গে সব সহ সাধারণ সামনে সি সে সেই হতে হাজার হয়",
    ),
    (
        "brazilian",
        "a ainda alem ambas ambos antes ao aonde aos apos aquele aqueles as assim com como contra \
         contudo cuja cujas cujo cujos da das de dela dele deles demais depois desde desta deste \
         dispoe dispoem diversa diversas diversos do dos durante e ela elas ele eles em entao entre \
         essa essas esse esses esta estas este estes ha isso isto logo mais mas mediante menos mesma \
         mesmas mesmo mesmos na nao nas nem nesse neste nos o os ou outra outras outro outros pelas \
         pelo pelos perante pois por porque portanto propios proprio quais qual qualquer quando \
         quanto que quem quer se seja sem sendo seu seus sob sobre sua suas tal tambem teu teus toda \
         todas todo todos tua tuas tudo um uma umas uns",
    ),
    (
        "bulgarian",
        "а аз ако ала бе без беше би бил била били било близо бъдат бъде бяха в вас ваш ваша вече \
         взема ви вие все всеки ги го да до е един за защо и или им има й как какво като кога което \
         които който която къде към ме мен ми може му на над най нас не него нея ние нито но някои \
         някой няма обаче освен от още по под пред преди през при пък с са само се си след сме сте \
         съм със също тази така такъв там твой те тези ти то това този той точно тук тъй тя тях у че \
         ще щом я",
    ),
    (
        "catalan",
        "a abans així al allà als amb aquí cada com de del dels des doncs el els en entre eren fins \
         ha han he hem hi ho i ja la les li me meu meva molt més ni no només o on pel pels per però \
         poc quan que qui quin quina què seu seva si sobre són també tan tant tot tota totes tots un \
         una unes uns va vaig vam van vas és",
    ),
    (
        "cjk",
        "a and are as at be but by for if in into is it no not of on or s such t that the their then \
         there these they this to was will with www",
    ),
    (
        "czech",
        "a aby ale ani asi atd až bez bude budem budeš by byl byla byli bylo být co což cz další dnes \
         do ho i jak jako je jeho jej její jen ještě ji jiné již jsem jseš jsme jsou jste já k kam \
         kde kdo když ke která které který kteří mezi mi my má máte mít mě můj může na nad nebo není \
         než nic nové nám nás němuž o od on ona oni ono pak po pod podle pokud pouze pro proto proč \
         první před přes při s se si své svých svým svými ta tak také takže tato tedy ten tento teto \
         tipy to tohle toho tom tomto tomu tu tuto ty tyto tím tímto u už v vaše ve vy vám vás více \
         však z za zda zde ze zpět či",
    ),
    (
        "estonian",
        "aga ei et ja juba ka kes kui kus kõik mis mitte ning oma see siis tema veel väga või üks",
    ),
    (
        "galician",
        "a alí ao aos aquel aquela aquelas aqueles aquilo aquí as así aínda ben cando che co coa coas \
         comigo con connosco contigo convosco cos cun cunha cunhas cuns da dalgunha dalgunhas dalgún \
         dalgúns das de del dela delas deles desde deste do dos dun dunha dunhas duns e el ela elas \
         eles en era eran esa esas ese eses esta estaba estar este estes estiven estou está están eu \
         facer foi foron fun había hai iso isto la las lle lles lo los mais me meu meus min miña \
         miñas moi na nas neste nin no non nos nosa nosas noso nosos nun nunha nunhas nuns nós o os \
         ou para pero pode pois pola polas polo polos por que se senón ser seu seus sexa sido sobre \
         súa súas tamén tan te ten ter teu teus teñen teño ti tido tiven tiña túa túas un unha unhas \
         uns vos vosa vosas voso vosos vós á é ó ós",
    ),
    (
        "greek",
        "αλλα αν αντι απο αυτα αυτεσ αυτη αυτο αυτοι αυτοσ αυτων για δε δεν εαν ειμαι ειναι εισαι \
         ειστε ενω επι η θα ισωσ κ και κατα κι μα με μετα μη μην να ο οι ομωσ οπωσ οσο οτι παρα ποια \
         ποιεσ ποιο ποιοι ποιοσ ποιων που προσ πωσ σε στη στην στο στον τα την το τον τοτε του των ωσ",
    ),
    (
        "hindi",
        "अदि अप अपना अपनि अपनी अपने अभि अभी आदि आप इंहें इन इनका इन्हें इस इसका इसकि इसकी इसके इसि \
         इसी उंहें उन उनका उनकि उनकी उनके उन्हें उस उसके उसि उसी एक एवं एसे ऐसे ओर और कर करता करते \
         करना करने का काफि कि कितना किया किस किसि किसी की कुछ कुल के को कोइ कोई कोन कौन गया घर जब \
         जहाँ जहां जा जितना जिधर जिन जिस जिसे जीधर जेसे जैसे जो तक तब तरह तो था थि थी थे दबारा दवारा \
         दिया दो द्वारा न नहिं नहीं निचे नीचे ने पर पहले पुरा पूरा फिर बनि बहि बही बहुत बाद भि भितर \
         भी भीतर मगर मानो में यदि यह यहाँ यहां या ये रहा रहे लिए लिये लेकिन वगेरह वरग वर्ग वह वहाँ \
         वहां वहिं वहीं वाले वुह वे संग सकता सकते सबसे सभि सभी साथ साबुत से हि ही हुअ हुआ हुइ हुई हुए \
         हे हें है हैं हो होता होति होती होते होना",
    ),
    (
        "indonesian",
        "ada agar akan aku anda apa atau bagi bahwa belum bila bisa bukan dalam dan dapat dari depan \
         di dia hal hanya harus ia ialah ini itu jika juga kalau kami kamu kapan ke kita lagi lah \
         lalu lebih maka mana masih meski namun oleh pada para pula pun saat saja sana saya sejak \
         semua serta siapa sini suatu sudah tanpa tapi telah tidak walau yaitu yakni yang",
    ),
    (
        "irish",
        "a ach ag agus an aon ar arna as ba beirt bhúr caoga chomh chtó chuig chun cois céad cúig dar \
         de deich den dhá do don dtí dá dár dó faoi faoin fara fiche gach gan go gur haon hocht i iad \
         idir in ina ins inár is le leis lena lenár mar mo mé na nach naoi ná ní níor nó nócha ocht \
         os roimh sa siad sibh sinn sna sé sí tar thar thú triúr trí trína tú um ár é éis í ó ón óna \
         ónár",
    ),
    (
        "latvian",
        "aiz ap apakš ar arī bet bez bija biji bijām bijāt būs būsi būsim būt būšu caur esam esat esi \
         esmu gan gar iekam iekš ik ir it itin iz ja jau jeb jebšu jel jo ka kamēr kopš kā kļuva \
         kļuvu kļūs kļūst kļūt labad lai līdz ne nebūt nedz nekā nevis no nu nē pa par pat pie pirms \
         pret pār pēc starp tad tak tapi taps tapt tiek tik tika tikai tikko topat tā tālab tāpēc un \
         uz vai var varēt vien virs vis zem ārpus",
    ),
    (
        "lithuanian",
        "ant apie ar arba aš be bet bus buvo būti dėl iki ir iš jei ji jie jis jo jos jūs jūsų jų kad \
         kaip kas kur mano mes mūsų nes nuo o pat per po prie prieš su tai taip tas tu už visi yra į",
    ),
    (
        "persian",
        "اباد اثر اره اري از است اش اكنون البته ام اما امد امده امروز امسال ان انان انجا اند انكه \
         انها انچه او اورد اورده اول اي ايا ايد ايشان ايم اين اينكه اگر با بار باره باشد باشند باشيم \
         بالا بالاي بايد بدون بر برابر براي برخي بروز بسيار بعد بعري بعضي بلكه بله بلي بندي به بود \
         بودن بودند بوده بي بيرون بيست بيش بيشتر بين تا تازه تان تحت تر ترين تمام تمامي تنها تواند \
         توسط تول توي جا جاي جايي جدا جديد جريان جز جلوي حتي حدود حق خارج خدمات خواست خواهد خود خويش \
         خياه داد دادن دادند داده دارد دارند داريم داشت داشتن داشته دانست دانند در دنبال ده دهد دهند \
         دو دوم ديده ديروز ديگر ديگري را راه رفت رفته روب روي ريزي زياد زير زيرا سابق ساخته سازي \
         سراسر سري سعي سمت سوم سوي سپس شان شايد شد شدن شدند شده شش شما شناسي شود شوند صورت ضد ضمن طبق \
         طريق طور طي عقب علت عنوان غير فقط فكر فوق قابل قبل قصد كجا كجاست كدام كرد كردم كردن كردند \
         كرده كس كسي كل كمتر كنار كند كنم كنند كنيد كنيم كه كي لطفا ما مان مانند مثل مختلف مدتي مردم \
         مرسي مقابل من مورد مگر مي ناشي نام نبايد نبود نخست ندارد نزد نزديك نشان نشده نظير نكرده نمايد \
         نمي نه نوعي نيز نيست ه ها هاي هايي هر هرگز هزار هست هستند هستيم هفت هم همان همه همين همچون \
         هنوز هنگام هيچ و وسط وقتي ولي وي وگو يا يابد يك يكي پاعين پس پنج پيش چرا چطور چند چندين چنين \
         چه چهار چون چيز چيزي چيست چگونه گذاري گردد گرفت گرفته گروهي گفت گفته گويد گويند گيرد گيري",
    ),
    (
        "romanian",
        "acea aceea acei aceia acel acela acele acest acolo acum ai aia aibă aici al ale alea am ar \
         are asta astea au avea avem aveţi azi aş aţi bine bucur bună ca care ce cel ceva chiar cine \
         cu cum cumva când cât câte câtva câţi cînd cît cîte cîtva cîţi că căci cărei căror cărui \
         către da dacă dar de deci deja deşi din dintr drept după dă ea ei el ele eram este eu eşti \
         face fi fie fii fim fiţi fără iar ieri la le li lor lui lângă lîngă mea mei mele mereu meu \
         mi mine mult multă mulţi mâine mă ne nici nişte noi nu ori orice pe peste poate pot prea \
         prima prin până pînă sa sale sau se spre sub sunt sînt să săi său ta tale te tine toate \
         toată tot toţi tu tăi tău un una unde unei unele unor vi voi vouă vreo vreun vă îi îl îmi în \
         încât încît între îţi ăla ălea ăsta ăstea ăştia şi ţi ţie",
    ),
    (
        "sorani",
        "ئێمە ئێوە ئەم ئەو ئەوان ئەوەی بۆ بێ بێجگە بە بەبێ بەدەم بەردەم بەرلە بەرەوی بەرەوە بەلای \
         بەپێی تۆ تێ جگە دوای دوو دە دەکات دەگەڵ سەر لێ لە لەبابەت لەباتی لەبارەی لەبرێتی لەبن لەبەر \
         لەبەینی لەدەم لەرێ لەرێگا لەرەوی لەسەر لەلایەن لەناو لەنێو لەو لەپێناوی لەژێر لەگەڵ من ناو \
         نێوان هەر هەروەها و وەک پاش پێ پێش چەند کرد کە ی",
    ),
    (
        "thai",
        "กล่าว กว่า กัน กับ การ ก็ ก่อน ขณะ ขอ ของ ขึ้น คง ครั้ง ความ คือ จะ จัด จาก จึง ช่วง ซึ่ง \
         ดัง ด้วย ด้าน ตั้ง ตั้งแต่ ตาม ต่อ ต่าง ต่างๆ ต้อง ถึง ถูก ถ้า ทั้ง ทั้งนี้ ทาง ที่ ที่สุด \
         ทุก ทํา ทําให้ นอกจาก นัก นั้น นี้ น่า นํา บาง ผล ผ่าน พบ พร้อม มา มาก มี ยัง รวม ระหว่าง \
         รับ ราย ร่วม ลง วัน ว่า สุด ส่ง ส่วน สําหรับ หนึ่ง หรือ หลัง หลังจาก หลาย หาก อยาก อยู่ \
         อย่าง ออก อะไร อาจ อีก เขา เข้า เคย เฉพาะ เช่น เดียว เดียวกัน เนื่องจาก เปิด เปิดเผย เป็น \
         เป็นการ เพราะ เพื่อ เมื่อ เรา เริ่ม เลย เห็น เอง แต่ แบบ แรก และ แล้ว แห่ง โดย ใน ให้ ได้ ไป \
         ไม่ ไว้",
    ),
    (
        "turkish",
        "acaba altı ama ancak arada bana bazı belki ben beni benim beri beş bile bin bir biri biz \
         bize bizi bizim bu buna bunda bunu bunun böyle da daha dahi de defa değil diye diğer dokuz \
         dört eden elli en etti eğer gibi göre halen hangi hatta hem henüz hep hepsi her hiç iki ile \
         ise için işte kadar kendi kez ki kim kime kimi kimse kırk mu mü mı nasıl ne neden nerde niye \
         niçin o olan oldu olmak olmaz olsa olsun olup olur on ona ondan onlar onu onun otuz oysa pek \
         sanki sekiz sen seni senin siz sizi sizin tüm var vardı ve veya ya yani yaptı yedi yine \
         yirmi yoksa yüz zaten çok çünkü öyle üzere üç şey şeyi şu şuna şunda şunu şöyle",
    ),
];

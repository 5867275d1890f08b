"""The same few sentences in many languages, written for the tests."""

from __future__ import annotations

SAID = {
    "catalan": (
        "L'home que vivia a la casa de davant ja no és el mateix que abans. Ahir em va dir que els seus fills eren "
        "lluny i que no tenia feina, però que també hi havia coses que el feien riure. La dona del forn li va "
        "portar un pa, perquè és així amb tots els que estan sols. Quan el vaig veure per darrera vegada, era a la "
        "porta amb un llibre sota el braç i no sabia on anar."
    ),
    "czech": (
        "Muž, který bydlel v domě naproti, už není takový jako dřív. Včera mi řekl, že jeho děti jsou daleko a že "
        "nemá práci, ale že se také někdy směje. Žena z pekárny mu přinesla chleba, protože to tak dělá pro "
        "všechny, kteří jsou sami. Když jsem ho viděl naposledy, stál u dveří s knihou v ruce a nevěděl, co má "
        "dělat a jak se dostat do města, kde byl jako dítě."
    ),
    "danish": (
        "Manden, der boede i huset på den anden side af gaden, er ikke den samme som før. I går sagde han til mig, "
        "at hans børn var langt væk, og at han ikke havde noget arbejde, men at der også var ting, som fik ham til "
        "at le. Bagerens kone kom med et brød til ham, for sådan gør hun med alle, der er alene. Da jeg så ham for "
        "sidste gang, stod han ved døren med en bog og så op mod himlen."
    ),
    "dutch": (
        "De man die in het huis aan de overkant woonde, is niet meer dezelfde als vroeger. Gisteren zei hij tegen "
        "me dat zijn kinderen ver weg waren en dat hij geen werk had, maar dat er ook dingen waren waar hij om "
        "moest lachen. De vrouw van de bakker bracht hem een brood, want zo doet ze dat voor iedereen die alleen "
        "is. Toen ik hem voor het laatst zag, stond hij met een boek bij de deur."
    ),
    "english": (
        "The man who lived in the house across the street is not the same as he was. Yesterday he told me that his "
        "children were far away and that he had no work, but that there were things which made him laugh. The wife "
        "of the baker brought him a loaf of bread, for that is what she does for all who are on their own. When I "
        "saw him for the last time he stood at the door with a book in his hand."
    ),
    "finnish": (
        "Mies, joka asui talossa kadun toisella puolella, ei ole enää sama kuin ennen. Eilen hän sanoi minulle, "
        "että lapset ovat kaukana ja että hänellä ei ole työtä, mutta että on myös asioita, jotka saavat hänet "
        "nauramaan. Leipurin vaimo toi hänelle leivän, sillä niin hän tekee kaikille, jotka ovat yksin. Kun minä "
        "näin hänet viimeisen kerran, hän oli ovella ja piti kirjaa kädessä, mutta ei ollut vielä lukenut sitä. Se "
        "oli hänen oma kirja, jonka hän oli saanut jo lapsena, ja nyt hän ei tiennyt, mitä sen kanssa voisi tehdä."
    ),
    "french": (
        "L'homme qui vivait dans la maison d'en face n'est plus le même. Hier il m'a dit que ses enfants étaient "
        "loin et qu'il n'avait pas de travail, mais qu'il y avait aussi des choses qui le faisaient rire. La femme "
        "du boulanger lui a donné un pain, car elle fait cela pour tous ceux qui sont seuls. Je l'ai vu pour la "
        "dernière fois dans la rue, avec un livre sous le bras, et il ne savait pas où aller."
    ),
    "german": (
        "Der Mann, der in dem Haus gegenüber wohnte, ist nicht mehr der, der er war. Gestern sagte er mir, dass "
        "seine Kinder weit weg sind und dass er keine Arbeit hat, aber dass es auch Dinge gibt, über die er noch "
        "lachen kann. Die Frau des Bäckers brachte ihm ein Brot, denn das tut sie für alle, die allein sind. Als "
        "ich ihn zum letzten Mal sah, stand er mit einem Buch in der Hand an der Tür und sah auf die Straße."
    ),
    "hungarian": (
        "Az ember, aki a szemközti házban lakott, már nem az, aki volt. Tegnap azt mondta nekem, hogy a gyerekei "
        "messze vannak, és hogy nincs munkája, de hogy van még valami, ami meg tudja nevettetni. A pék felesége "
        "vitt neki egy kenyeret, mert ezt teszi mindenkivel, aki egyedül van. Amikor utoljára láttam, az ajtóban "
        "állt egy könyvvel, és nem tudta, hogy merre kell menni, vagy hogy kell-e még egyáltalán."
    ),
    "italian": (
        "L'uomo che viveva nella casa di fronte non è più lo stesso di prima. Ieri mi ha detto che i suoi figli "
        "sono lontani e che non ha un lavoro, ma che ci sono anche delle cose che lo fanno ridere. La moglie del "
        "fornaio gli ha portato il pane, perché è così con tutti quelli che sono soli. Quando l'ho visto per la "
        "prima volta era sulla porta con un libro in mano e non sapeva dove andare."
    ),
    "norwegian": (
        "Mannen som bodde i huset på den andre siden av gata, er ikke den samme som før. I går sa han til meg at "
        "barna hans var langt borte og at han ikke hadde noe arbeid, men at det også var ting som fikk han til å "
        "le. Kona til bakeren kom med et brød til han, for slik gjør hun med alle som er alene. Da jeg så han for "
        "siste gang, sto han ved døra med ei bok og så opp mot himmelen. Nå vet jeg ikke hva han gjør, eller hvor "
        "han skal bo etter dette, men noe av det han sa, har blitt med meg."
    ),
    "polish": (
        "Człowiek, który mieszkał w domu po drugiej stronie ulicy, nie jest już taki jak kiedyś. Wczoraj powiedział "
        "mi, że jego dzieci są daleko i że nie ma pracy, ale że są też rzeczy, z których się śmieje. Żona piekarza "
        "przyniosła mu chleb, bo tak robi dla tych, którzy są sami. Kiedy go widziałem po raz ostatni, stał przy "
        "drzwiach z książką w ręku i nie wiedział, co by tu jeszcze zrobić."
    ),
    "portuguese": (
        "O homem que morava na casa em frente já não é o mesmo. Ontem ele me disse que os filhos estavam longe e "
        "que não tinha trabalho, mas que também havia coisas que o faziam rir. A mulher do padeiro levou um pão "
        "para ele, pois é isso que ela faz com todos os que estão sós. Quando o vi pela última vez, ele estava na "
        "porta com um livro na mão e não sabia para onde ir, nem se já era tarde."
    ),
    "romanian": (
        "Omul care locuia în casa de peste drum nu mai este același. Ieri mi-a spus că sunt departe copiii lui și "
        "că nu mai are de lucru, dar că sunt și lucruri care îl fac să râdă. Femeia de la brutărie i-a adus o "
        "pâine, pentru că așa face cu toți cei care sunt singuri. Când l-am văzut pentru ultima dată, era în ușă cu "
        "o carte în mână și nu mai știa pe ce drum să o ia."
    ),
    "spanish": (
        "El hombre que vivía en la casa de enfrente ya no es el mismo. Ayer me dijo que sus hijos estaban lejos y "
        "que no tenía trabajo, pero que también hay cosas que lo hacen reír. La mujer del panadero le llevó un pan, "
        "porque es lo que hace con todos los que están solos. Cuando lo vi por última vez estaba en la puerta con "
        "un libro en la mano y no sabía a donde ir, ni si era muy tarde."
    ),
    "swedish": (
        "Mannen som bodde i huset på andra sidan gatan är inte densamma som förr. I går sade han till mig att hans "
        "barn var långt borta och att han inte hade något arbete, men att det också fanns saker som fick honom att "
        "skratta. Bagarens fru kom med ett bröd till honom, för så gör hon med alla som är ensamma. När jag såg "
        "honom för sista gången stod han vid dörren med en bok och såg upp mot himlen."
    ),
    "turkish": (
        "Karşıdaki evde oturan adam artık eskisi gibi değil. Dün bana çocuklarının çok uzakta olduğunu ve bir işi "
        "olmadığını söyledi, ama onu güldüren şeyler de var. Fırıncının karısı ona bir ekmek getirdi, çünkü yalnız "
        "olan her insan için bunu yapar. Onu son gördüğüm zaman kapıda, elinde bir kitap ile duruyordu ve ne "
        "yapacağını bilmiyordu. Bu kitap onun için çok önemli bir şey gibi görünüyordu, ama ben ne olduğunu "
        "sormadım."
    ),
}

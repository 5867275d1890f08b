"""Which language a text in Latin letters is in, by its most frequent words; where that is not evident, none.

The lists are of words that make up a third or more of most prose. Greek has letters of its own; see languages.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

WORDS = {
    "catalan": (
        "el la els les un una i o que de del dels al als en amb per a no és són era va ser ha han havia seu seva "
        "aquest aquesta això més com però també molt quan on si jo tot tots ja fins entre sobre només perquè em "
        "li hi ens"
    ),
    "czech": (
        "a i o u v ve na s se z že to je jsem jsi jsou byl byla bylo jako ale nebo když který která které jeho "
        "její si mi ho by do od po pro při tak už jen jak také ne co za aby podle ještě mezi před není své svou "
        "této tom"
    ),
    "danish": (
        "og i at det er en et den til på som af de der med for ikke han hun jeg var har havde vi men fra om ham "
        "sig sin så da efter eller meget skal kan vil blev også hvad nu når over ved kun hvor ud op noget mig dig "
        "deres ind"
    ),
    "dutch": (
        "de het een en van in is dat die op te niet zijn met voor er aan om ook als maar bij dan wat nog ze hij "
        "zij ik je we hun haar door over naar heeft hebben werd wordt worden deze dit geen uit tot kan zou meer "
        "had was of"
    ),
    "english": (
        "the of and to a in is that it was for on with as he his be at by this had not are but from have they you "
        "which were their or we an she her him been has when who will more no if out so what up would there all"
    ),
    "finnish": (
        "ja on ei että se oli hän mutta kun niin kuin myös ovat joka jos tai minä sen olla mitä jo vain nyt sitä "
        "kanssa mukaan ole olen olisi eivät hänen tämä tämän tässä siitä siinä ne jotka vielä sekä ennen jälkeen"
    ),
    "french": (
        "le la les un une et de du des en à au aux que qui est il elle ne pas pour dans ce cette sur se son sa "
        "ses plus par je nous vous ils mais avec ou on sont été leur si tout comme était fait être deux même y "
        "dont bien"
    ),
    "german": (
        "der die das und in ist zu den nicht ein eine von mit sich des dem auf für es im er sie als auch an "
        "werden aus hat dass wie nach wird bei einer um am sind noch war einem über so zum kann nur oder ich wir "
        "aber haben vor"
    ),
    "hungarian": (
        "a az és hogy nem is egy van volt meg csak de ez már el még ha azt mint ki kell fel aki sem ezt vagy mert "
        "azonban amely lehet nagyon minden ami úgy majd ezek után szerint között pedig olyan mindig vannak lesz "
        "lett"
    ),
    "italian": (
        "il lo la i gli le un una e di del della dei delle da in che è non per con si su sono al alla come anche "
        "ma più ha mi se io nel nella questo questa era suo sua lui lei ci quando dopo essere stato così perché "
        "tutto"
    ),
    "norwegian": (
        "og i at det er en et den til på som av de med for ikke han hun jeg var har hadde vi men fra om seg sin "
        "så da etter eller mye skal kan vil ble også hva nå når over ved bare hvor ut opp noe meg deg deres bli "
        "inn"
    ),
    "polish": (
        "i w na z do się nie to że jest o jak po ale od za co tak już czy by był była było tego jego jej ich dla "
        "przez oraz tylko przy sobie mnie ja jednak może gdy kiedy są być który która które bardzo także tym "
        "jeszcze pod"
    ),
    "portuguese": (
        "o a os as um uma e de do da dos das em no na nos nas que não para por com se é foi mais como mas ao à "
        "ele ela seu sua ou quando muito já eu também só pelo pela até isso entre depois sem mesmo são está você"
    ),
    "romanian": (
        "și în de la a cu nu că pe un o este pentru din care mai se sunt era ce ca au dar am lui ei sau fi fost "
        "această acest după cum tot prin foarte când eu el ea le îi își într fără până despre între doar cele cel"
    ),
    "spanish": (
        "el la los las un una y de del que en a no se es por con para su sus al lo como más pero le ya o fue este "
        "ha sí porque esta son entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante "
        "era"
    ),
    "swedish": (
        "och i att det är en ett den till på som av de med för inte han hon jag var har hade vi men från om sig "
        "sin så då efter eller mycket ska kan vill blev också vad nu när över vid bara där ut upp något mig dig "
        "deras bli"
    ),
    "turkish": (
        "ve bir bu da de için ile çok daha o ne gibi ama en mi var yok olan olarak ben sen biz kadar sonra her "
        "şey değil ki ya hem diye oldu olduğu bunu şu ise göre kendi nasıl neden zaman içinde üzerinde önce artık"
    ),
}
EXTENT = 5_000
"""Characters of a text's beginning that are looked at."""
FEWEST = 50
"""Words below which nothing is evident."""
SHARE = 0.2
"""Of the words of a text at least so many are among the most frequent ones of its language."""
TIMES, MORE = 3, 5
"""Of two languages one is evident by its own words, those that the other's list has not: so many times as many as of
the other's own, and some more."""

_WORD = re.compile(r"[^\W\d_]+")


def tell_language(text: str) -> str | None:
    """The language that a text evidently is in, or None."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:EXTENT]).lower())
    if len(words) < FEWEST:
        return None
    met = [(found, count) for word, count in Counter(words).items() if (found := _homes().get(word))]

    def count_own(one: str, other: str | None = None) -> int:
        return sum(count for languages, count in met if one in languages and other not in languages)

    first = max(WORDS, key=count_own)
    if count_own(first) < SHARE * len(words):
        return None
    others = (name for name in WORDS if name != first)
    evident = all(count_own(first, other) >= TIMES * count_own(other, first) + MORE for other in others)
    return first if evident else None


@cache
def _homes() -> dict[str, frozenset[str]]:
    """For each word the languages whose lists have it."""
    homes: dict[str, set[str]] = {}
    for name, words in WORDS.items():
        for word in words.split():
            homes.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in homes.items()}

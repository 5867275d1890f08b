// Texts about each task: what it needs, and what its answer means and does not mean.

const NO_PROOF =
  "It is no proof. How somebody writes changes with the occasion, the years, the reader and the keyboard; a text that was dictated, translated, edited, written together or made by a machine is not simply somebody's. It should not be the only ground of a decision about a person.";

export const TASKS = {
  question: {
    title: "Did the same person write these?",
    short: "Texts that a person certainly wrote, and one or more that may be theirs.",
    needs:
      "Give one or more texts that the person certainly wrote, and each text in question. A few hundred characters say little; a page or more of each is better. They should be in one language and, as far as possible, of one kind: letters beside letters, essays beside essays.",
    meaning: [
      "The answer is a weight of evidence: how many times more probable such a likeness is if the same person wrote the texts than if somebody else did. A log-likelihood ratio of 1 means ten times, 2 a hundred times, 0 neither; below 0 it speaks for somebody else.",
      "The probability beside it takes both to have been equally probable beforehand. What else you know may make that wrong.",
      "\u201cUndecided\u201d is an answer: these texts do not say.",
      "It holds beside the texts by other people that you chose. If those are of another kind than yours, it misleads, and says so only where that can be seen.",
      NO_PROOF,
    ],
  },
  corpus: {
    title: "Answer a whole corpus",
    short: "A PAN folder or zip: many problems at once, answered as in a shared task.",
    needs:
      "Give a folder or a zip of problems as PAN has them: a folder each, with known01.txt, known02.txt and unknown.txt; or pairs as a .jsonl file. Without a reference population the problems are compared with each other: then at least five of them must have different known texts, and about half of them are taken to have the answer yes.",
    meaning: [
      "Each problem gets an answer from 0, another author, to 1, the same author; exactly 0.5 is undecided. Where answers are calibrated, the weight of the evidence comes with them.",
      "Compared with each other, the middle problem is 0.5. A folder of nothing but suspected cases is no corpus: its answers tell only which are more suspect than others.",
      "If the folder holds the truth (truth.txt), it is opened only after all answers are made, to measure them.",
      NO_PROOF,
    ],
  },
  attribution: {
    title: "Which of these authors?",
    short: "Texts by several known authors, and texts that one of them may have written.",
    needs:
      "Give two or more authors, each with one text at least (two or more make it possible to learn how sure to be), and the texts in question. A folder with a folder for each author does it in one go.",
    meaning: [
      "The authors are ranked by probability, beside \u201cnone of these\u201d. The probabilities are those among these authors only: if the true one is not there, somebody else comes first.",
      "\u201cNone of these\u201d begins with the probability that you set, and moves with how well the best author fits. With two authors it stays as it was.",
      "Authors whose texts are all on one topic, or of one kind, may be told apart by that instead of by how they write.",
      NO_PROOF,
    ],
  },
  clustering: {
    title: "Which texts belong together?",
    short: "Texts by nobody knows whom: which are by one hand?",
    needs:
      "Give the texts, best twenty or more, of one language and kind. With fewer, the number of groups means little.",
    meaning: [
      "Texts are grouped where they are much more alike than texts here usually are. How many groups there are comes out of the texts.",
      "It takes for granted that some texts belong together, and makes groups also where every text is by somebody else. Look at how strong the links are before you believe a group.",
      "A group may be one of topic or kind instead of one hand.",
      NO_PROOF,
    ],
  },
};

export const REFERENCE =
  "Byline can only tell whether texts are more alike than texts by different people usually are. So it needs texts by other people to compare with, a reference population: of the same language, kind and length as yours. Texts by ten people are the least, fifty are enough.";

export const REFERENCE_MORE = [
  "A reference of another kind misleads: two essays are more alike than an essay and a play, whoever wrote them.",
  "Never put texts of the person in question into it.",
  "Each file counts as another person\u2019s, unless files lie in folders, one for each person.",
];

export const STATES = {
  queued: "waiting",
  running: "at work",
  cancelling: "being stopped",
  done: "done",
  failed: "failed",
  cancelled: "stopped",
  interrupted: "interrupted",
};

// Texts about each task: what it needs, and what its answer means and does not mean.

const NO_PROOF =
  "It is no proof. How somebody writes changes with the occasion, the years, the reader and the keyboard; a text that was dictated, translated, edited, written together or made by a machine is not simply somebody's. It should not be the only ground of a decision about a person.";

export const TASKS = {
  question: {
    title: "Did the same person write these?",
    short: "Texts that a person certainly wrote, and one or more that may be theirs.",
    needs:
      "Give one or more texts that the person certainly wrote, and each text in question. A few hundred characters say little; a page or more of each is better. They should be in one language and, as far as possible, of one kind: letters with letters, essays with essays.",
    meaning: [
      "The answer is a weight of evidence: how many times more probable such a likeness is if the same person wrote the texts than if somebody else did. A log-likelihood ratio of 1 means ten times, 2 a hundred times, 0 neither; below 0 it speaks for somebody else.",
      "The probability next to it assumes that both were equally probable beforehand. What else you know may make that wrong.",
      "\u201cUndecided\u201d is an answer: these texts do not say.",
      "It depends on the texts by other people that you chose. If those are of another kind than yours, it misleads, and Byline can warn of that only in some cases.",
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
      "The authors and \u201cnone of these\u201d are ranked by probability. Only these authors are compared: if the true one is not there, somebody else comes first.",
      "\u201cNone of these\u201d begins with the probability that you set, and moves with how well the best author fits. With two authors it stays as it was.",
      "If all texts of an author are on one topic or of one kind, Byline may recognize that instead of how the author writes.",
      NO_PROOF,
    ],
  },
  clustering: {
    title: "Which texts belong together?",
    short: "Texts by unknown authors: which have the same author?",
    needs:
      "Give the texts, best twenty or more, of one language and kind. With fewer, the number of groups means little.",
    meaning: [
      "Texts are grouped where they are much more alike than texts here usually are. The number of groups depends on the texts.",
      "It assumes that some texts belong together, and makes groups even if every text is by a different author. Look at how strong the links are before you believe a group.",
      "A group may have a topic or kind in common instead of an author.",
      NO_PROOF,
    ],
  },
};

export const REFERENCE =
  "Byline can only tell whether texts are more alike than texts by different people usually are. So it needs texts by other people to compare with, a reference population: of the same language, kind and length as yours. Texts by ten people are the least, fifty are enough.";

export const REFERENCE_MORE = [
  "A reference of another kind misleads: two essays are more alike than an essay and a play, even if one person wrote the essay and the play.",
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

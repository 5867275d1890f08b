// The page of this dossier.

({ verification: verificationPage, attribution: attributionPage, clustering: clusteringPage, rolling: rollingPage })[
  DOSSIER.kind
](DOSSIER);
document.documentElement.dataset.ready = "yes";

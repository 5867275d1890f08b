// The page of this report.

({ verification: verificationPage, attribution: attributionPage, clustering: clusteringPage, rolling: rollingPage })[
  REPORT.kind
](REPORT);
document.documentElement.dataset.ready = "yes";

if ($("fragments")) showFragments();
if ($("examples")) showExamples();
showEndsSoon();
root.classList.add("ready");

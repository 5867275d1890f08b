"""A local web page: texts dropped on it are compared on this machine, and nothing leaves it.

limits       how much may be asked
home         the folder that it all lies in, its owner's only
guard        who may ask at all: this machine's own browser, with the token, from the page itself
connections  and whoever sends no request is let go
names        what files may be called
layouts      where they belong by that
archives     a zip, unpacked with limits
uploads      a body that comes in, not too large and not too slow
processes    processes of the server's own
telling      what those tell it, in words that make sense on the page
reading      a file made text, in one of them
drafts       files that wait for their question
intake       how they come there
options      how a question is to be answered
needs        and what it needs
jobs         a question, on disk from the moment it is asked
examples     questions about built-in texts
sources      where, in folders, a task's texts lie
work         a job as the process that does it sees it
results      what it leaves
progress     how far a run is
tasks        the answers themselves
worker       that process
building     another one, for texts to compare with
populations  the texts to compare with that are kept
line         jobs one after another: progress, cancelling, a restart
downloads    what a finished job can be asked for
refusals     what is said where something can't be done
app          the addresses
server       all of it on 127.0.0.1
"""

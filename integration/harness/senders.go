package harness

// AnnSubject is a subject with characters that want care.
const AnnSubject = "ann ☺ <x>"

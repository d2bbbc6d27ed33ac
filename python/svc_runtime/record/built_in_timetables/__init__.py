"""What built-in timetables answer when an author's subclass asks them: the same runs as the scheduler computes (packages/spec/timetables),
and Airflow's own answers are the test of both. Only for classes that inherit one; a built-in timetable itself is data."""

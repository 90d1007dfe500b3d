# Queues that a log does not have: short for limits of up to 4 hours, else long.
/^;/ { print; next }
!n++ { print "; Queue: 1 short"; print "; Queue: 2 long" }
{ $15 = $9 <= 14400 ? 1 : 2; print }
